//! `verdict.md` of a vote on a task.

use crate::ids::SlotId;
use crate::judging::{MissingReason, VoteVerdict};
use crate::session::slot::SlotState;
use crate::verdict::{TaskDecision, TaskMember, TaskVerdict};

use super::escape::{inline, terminal};
use super::headline::list;
use super::sections::{LONGEST_TEXT, MOST_ISSUES, inline_commands, plural};
use super::{Context, FailedSeat, Names, Seat};

/// The number of the wording of this document; see [`super::RENDERING`].
pub const TASK_RENDERING: u32 = 3;

/// `verdict.md` of a vote on a task: for a person in a hurry the first lines suffice.
#[must_use]
pub fn render_task(verdict: &TaskVerdict, names: &Names, context: &Context) -> String {
    let mut parts = vec![heading(verdict), format!("**{}**: {}.", verdict.decision.as_str(), why(verdict))];
    if verdict.is_partial() {
        parts.push(format!(
            "> **Partial panel: {} of {} without a vote.** What finishes tends to be the faster models, so a partial \
             panel is biased, not only smaller.",
            verdict.votes.missing,
            plural(verdict.votes.panel, "member")
        ));
    }
    // In one list with the bar, so that whoever checks the document can tell them from what follows from the votes.
    parts.push(note_lines(&context.first).into_iter().chain([bar(verdict)]).collect::<Vec<_>>().join("\n"));
    parts.push(votes(verdict, names));
    parts.extend(
        [
            key_issues(verdict),
            dissent(verdict, names),
            failed(verdict, names, context),
            noted(verdict, names),
            super::costs::costs(names, context),
            Some(conditions(verdict, context)),
            Some(verification(context)),
        ]
        .into_iter()
        .flatten(),
    );
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

/// What was decided and why, in one line for a terminal.
#[must_use]
pub fn task_summary(verdict: &TaskVerdict) -> String {
    format!("{}: {}", verdict.decision.as_str(), why(verdict))
}

fn heading(verdict: &TaskVerdict) -> String {
    let kind = if verdict.is_partial() { "# Verdict of a partial panel" } else { "# Verdict" };
    format!("{kind}: {}", verdict.decision.as_str())
}

fn why(verdict: &TaskVerdict) -> String {
    let count = verdict.votes;
    let counts = format!("{} for and {} against", count.approvals, count.rejections);
    let needed = verdict.needed;
    let of = plural(count.valid, "valid vote");
    match verdict.decision {
        TaskDecision::Approved => {
            format!("{} of {of} approve, and {needed} were needed ({counts})", count.approvals)
        }
        TaskDecision::Rejected => {
            format!("{} of {of} reject, and {needed} were needed ({counts})", count.rejections)
        }
        TaskDecision::Split if count.approvals >= needed => {
            format!("both sides have the {needed} of {of} that were needed ({counts})")
        }
        TaskDecision::Split => format!("neither side has the {needed} of {of} that were needed ({counts})"),
        TaskDecision::Inconclusive => {
            format!("{of}, and the quorum is {} of a panel of {} ({counts})", verdict.quorum, count.panel)
        }
    }
}

fn bar(verdict: &TaskVerdict) -> String {
    let count = verdict.votes;
    let needed = match count.valid {
        0 => "and there is none".to_owned(),
        valid => format!("which is {} of {valid}", verdict.needed),
    };
    format!(
        "- Bar: {} (`{}`), {needed}\n\
         - Quorum: {} of a panel of {}; {} cast\n\
         - Votes: {} for, {} against, {}, {} missing",
        verdict.threshold.describe(),
        verdict.threshold,
        plural(verdict.quorum, "valid vote"),
        count.panel,
        match count.valid {
            1 => "1 was".to_owned(),
            valid => format!("{valid} were"),
        },
        count.approvals,
        count.rejections,
        plural(count.abstentions, "abstention"),
        count.missing,
    )
}

fn votes(verdict: &TaskVerdict, names: &Names) -> String {
    let mut text = String::from(
        "## Votes\n\n| Member | Model | Vote | Confidence | Summary |\n| :--- | :--- | :--- | ---: | :--- |",
    );
    for member in &verdict.members {
        let (vote, confidence, summary) = match member.counted() {
            Some(vote) => (
                match vote.verdict {
                    VoteVerdict::Approve => "approve".to_owned(),
                    VoteVerdict::Reject => "**reject**".to_owned(),
                    VoteVerdict::Abstain => "abstain".to_owned(),
                },
                vote.confidence.map_or_else(|| "-".to_owned(), |confidence| confidence.to_string()),
                inline(&vote.summary, LONGEST_TEXT),
            ),
            None => ("missing".to_owned(), "-".to_owned(), without_vote(member)),
        };
        text.push_str(&format!("\n| {} | {} | {vote} | {confidence} | {summary} |", member.id, names.slot(member.id)));
    }
    text
}

/// Why a member has no vote.
fn without_vote(member: &TaskMember) -> String {
    if member.state != SlotState::Completed {
        return format!("{}, see below", member.state.as_str());
    }
    let reason = match member.missing {
        Some(MissingReason::UnclearVerdict) => "its reply has no clear verdict",
        Some(MissingReason::Contradiction) => "its reply has two different votes",
        Some(
            MissingReason::NoBallot
            | MissingReason::NotVoted
            | MissingReason::JudgeFailed
            | MissingReason::SecondPassFailed,
        )
        | None => "its reply has no vote block",
    };
    reason.to_owned()
}

fn key_issues(verdict: &TaskVerdict) -> Option<String> {
    let mut text = String::from("## Key issues\n\n| Named by | Issue | Members |\n| ---: | :--- | :--- |");
    for issue in verdict.key_issues.iter().take(MOST_ISSUES) {
        let raised_by = list(&issue.raised_by);
        text.push_str(&format!("\n| {} | {} | {raised_by} |", issue.count, inline(&issue.text, LONGEST_TEXT)));
    }
    let more = verdict.key_issues.len().saturating_sub(MOST_ISSUES);
    if more > 0 {
        text.push_str(&format!("\n\n{more} more are in `verdict.json`."));
    }
    (!verdict.key_issues.is_empty()).then_some(text)
}

fn dissent(verdict: &TaskVerdict, names: &Names) -> Option<String> {
    let mut lines = Vec::new();
    if verdict.votes.approvals == verdict.votes.rejections {
        lines.push("As many votes are for as against.".to_owned());
    }
    for member in verdict.members.iter().filter(|member| verdict.dissent.contains(&member.id)) {
        let Some(vote) = member.counted() else { continue };
        let word = if vote.verdict == VoteVerdict::Approve { "approves" } else { "rejects" };
        let mut line = format!("- {} {word}", who(member.id, names));
        if !vote.summary.trim().is_empty() {
            line.push_str(": ");
            line.push_str(&inline(&vote.summary, LONGEST_TEXT));
        }
        lines.push(line);
    }
    (!verdict.dissent.is_empty()).then(|| format!("## Dissent\n\n{}", lines.join("\n")))
}

fn who(id: SlotId, names: &Names) -> String {
    format!("member {id} ({})", names.slot(id))
}

/// Members that did not complete. They are shown as they ended: nobody is asked in their place.
fn failed(verdict: &TaskVerdict, names: &Names, context: &Context) -> Option<String> {
    let mut lines = Vec::new();
    for member in verdict.members.iter().filter(|member| member.state != SlotState::Completed) {
        let told = context.failed.iter().find(|failed| failed.seat == Seat::Slot(member.id));
        lines.push(match told {
            Some(failed) => ending(failed, &who(member.id, names)),
            None => format!("- {} is {}", who(member.id, names), member.state.as_str()),
        });
    }
    (!lines.is_empty()).then(|| format!("## Failed members\n\n{}", lines.join("\n")))
}

fn ending(failed: &FailedSeat, who: &str) -> String {
    let reason = failed.reason.map(|reason| format!(", `{}`", reason.as_str())).unwrap_or_default();
    let log = failed.log.as_deref().map(|log| format!(" (log: `{}`)", terminal(log, LONGEST_TEXT))).unwrap_or_default();
    let next = inline_commands(&failed.next_step);
    format!("- {who} is {}{reason}{log}. Next: {next}", failed.state.as_str())
}

fn noted(verdict: &TaskVerdict, names: &Names) -> Option<String> {
    let mut lines = Vec::new();
    for member in &verdict.members {
        let repaired = member.repair.iter().flat_map(|repair| &repair.notes);
        for note in member.notes.iter().chain(repaired) {
            let quote = note.text.as_deref().map(|text| format!(": {}", inline(text, 60))).unwrap_or_default();
            lines.push(format!("- {}: {}{quote}", who(member.id, names), note.kind.describe()));
        }
        if let Some(repair) = &member.repair {
            let came = match (&repair.vote, repair.state) {
                (Some(_), _) => "a vote came of it".to_owned(),
                (None, SlotState::Completed) => "no vote came of it".to_owned(),
                (None, state) => format!("that turn is {}", state.as_str()),
            };
            lines.push(format!(
                "- {} was asked once more, for its reply had no vote that can be read: {came}",
                who(member.id, names)
            ));
        }
    }
    (!lines.is_empty()).then(|| format!("## Noted\n\n{}", lines.join("\n")))
}

fn conditions(verdict: &TaskVerdict, context: &Context) -> String {
    let mut lines = vec![
        format!("- Text: `task.md`, SHA-256 `{}`; every member received the same `input.md`", verdict.task),
        "- No member was shown the vote of another".to_owned(),
        format!("- Isolation: {}", inline(&context.isolation, LONGEST_TEXT)),
    ];
    lines.extend(note_lines(&context.notes));
    format!("## How it was made\n\n{}", lines.join("\n"))
}

fn note_lines(notes: &[String]) -> Vec<String> {
    notes.iter().map(|note| format!("- Note: {}", inline_commands(note))).collect()
}

fn verification(context: &Context) -> String {
    let session = &context.session;
    let safe = session.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    let session = if safe && !session.is_empty() { session.as_str() } else { "SESSION" };
    let head = context.head.as_ref().map_or_else(String::new, |head| {
        format!(" Before this verdict the chain ended with the hash `{head}`: the `prev` of the verdict's line.")
    });
    format!(
        "## How to verify\n\n\
         `team verify {session}` reads every reply again, counts the votes again, and names what differs first. Without \
         `team`, in the session's folder `{session}`:\n\n\
         ```sh\n\
         sha256sum task.md input.md verdict.json verdict.md response-*.md\n\
         grep -h -e '\"event\":\"created\"' -e '\"event\":\"verdict\"' -e '\"event\":\"slot_ended\"' events.jsonl\n\
         ```\n\n\
         - The hashes of the first command stand in the lines of the second: `created` holds those of the task and of the \
         prompt, `verdict` those of this verdict, `slot_ended` that of a reply.\n\
         - `verdict.json` follows from the vote blocks of the replies `response-NN.md` (those of a further turn are in \
         `repair/`), the bar and the quorum.\n\
         - Each line of `events.jsonl` holds the SHA-256 of the line before it, so no line changes without all later \
         ones.{head}"
    )
}
