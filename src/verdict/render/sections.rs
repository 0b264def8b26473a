//! The parts of the document below its headline. A part with nothing to say is left out, except the agreement.

use crate::config::{Leaks, Passes, Recuse, SelfVote};
use crate::ids::SlotId;
use crate::judging::VoteVerdict;
use crate::session::Round;
use crate::verdict::{Interval, ResultVote, Verdict};

use super::escape::{inline, terminal};
use super::headline::list;
use super::{Context, Names, Seat};

/// Issues beyond these are in `verdict.json`.
pub(super) const MOST_ISSUES: usize = 20;
pub(super) const LONGEST_TEXT: usize = 300;

pub(super) fn ranking(verdict: &Verdict, names: &Names) -> Option<String> {
    if let Some(pairs) = &verdict.pairs {
        return Some(super::pairs::ranking(pairs, names));
    }
    let two = verdict.passes == Passes::Two;
    let (flipped, line) = if two { (" Flipped |", " ---: |") } else { ("", "") };
    let mut text = format!(
        "## Ranking\n\n\
         | Rank | Answer | Model | Approve | Reject | Abstain |{flipped} Missing | Score | 95 % interval | Confidence |\n\
         | ---: | :--- | :--- | ---: | ---: | ---: |{line} ---: | ---: | :--- | ---: |",
    );
    for answer in &verdict.answers {
        let shared =
            verdict.answers.iter().filter(|other| other.rank.is_some() && other.rank == answer.rank).count() > 1;
        let rank = match answer.rank {
            Some(rank) if shared => format!("{rank} (shared)"),
            Some(rank) => rank.to_string(),
            None => "-".to_owned(),
        };
        text.push_str(&format!(
            "\n| {rank} | {} | {} | {} | {} | {} |{} {} | {} | {} | {} |",
            answer.id,
            names.slot(answer.id),
            answer.approvals,
            answer.rejections,
            answer.abstentions,
            if two { format!(" {} |", answer.inconsistent) } else { String::new() },
            answer.missing,
            answer.score.map_or_else(|| "no votes".to_owned(), percent),
            answer.interval.map_or_else(|| "-".to_owned(), interval),
            answer.confidence.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.1}")),
        ));
    }
    (!verdict.answers.is_empty()).then_some(text)
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

pub(super) fn interval(interval: Interval) -> String {
    format!("{:.0} to {:.0} %", interval.low * 100.0, interval.high * 100.0)
}

pub(super) fn votes(verdict: &Verdict, names: &Names) -> Option<String> {
    let mut answers: Vec<_> = verdict.answers.iter().collect();
    answers.sort_by_key(|answer| answer.id);
    let mut judges: Vec<SlotId> = answers.iter().flat_map(|answer| &answer.votes).map(|vote| vote.judge).collect();
    judges.extend(verdict.missing_votes.iter().map(|missing| missing.judge));
    judges.extend(verdict.inconsistent_votes.iter().map(|vote| vote.judge));
    judges.extend(verdict.missing_judges.iter().map(|seat| seat.id));
    judges.sort();
    judges.dedup();
    if judges.is_empty() || answers.is_empty() || verdict.pairs.is_some() {
        return None;
    }
    let mut text = String::from(
        "## Who voted how\n\nThe number is the judge's confidence, 1 to 10; a dash is an answer that the judge was not shown.\n\n| Judge | Model |",
    );
    answers.iter().for_each(|answer| text.push_str(&format!(" {} |", answer.id)));
    text.push_str("\n| :--- | :--- |");
    text.push_str(&" :--- |".repeat(answers.len()));
    for judge in judges {
        text.push_str(&format!("\n| {judge} | {} |", names.judge(judge)));
        for answer in &answers {
            let vote = answer.votes.iter().find(|vote| vote.judge == judge);
            let missing =
                || verdict.missing_votes.iter().any(|missing| missing.judge == judge && missing.answer == answer.id);
            let flipped = verdict.inconsistent_votes.iter().any(|vote| vote.judge == judge && vote.answer == answer.id);
            let cell = match vote {
                Some(vote) => cell(vote),
                None if flipped => "flipped".to_owned(),
                None if missing() => "missing".to_owned(),
                None => "-".to_owned(),
            };
            text.push_str(&format!(" {cell} |"));
        }
    }
    Some(text)
}

fn cell(vote: &ResultVote) -> String {
    let word = match vote.verdict {
        VoteVerdict::Approve => "approve",
        VoteVerdict::Reject => "**reject**",
        VoteVerdict::Abstain => "abstain",
    };
    vote.confidence.map_or_else(|| word.to_owned(), |confidence| format!("{word} {confidence}"))
}

pub(super) fn agreement(verdict: &Verdict) -> Option<String> {
    if verdict.pairs.is_some() {
        return Some(format!("## Length\n\n{}", length(verdict)));
    }
    let agreement = &verdict.agreement;
    let (votes, answers) = (agreement.votes, agreement.answers);
    let of = format!("N = {} on {}", plural(votes, "vote"), plural(answers, "answer"));
    let alpha = match agreement.alpha {
        Some(alpha) => {
            format!("Krippendorff's alpha {alpha:.2} ({of}). 1 is full agreement, 0 what chance would give.")
        }
        None if answers == 0 => format!("Krippendorff's alpha is undefined ({of}): no answer has two valid votes."),
        None => format!("Krippendorff's alpha is undefined ({of}): all these votes are the same."),
    };
    let ballots = &verdict.ballots;
    let counts = format!(
        "Valid votes: {} of {} possible; {}{} and {} missing. An answer needs {} valid votes to win.",
        ballots.cast,
        ballots.possible,
        plural(ballots.abstentions, "abstention"),
        match verdict.passes {
            Passes::Two => format!(", {} flipped", ballots.inconsistent),
            Passes::One => String::new(),
        },
        ballots.missing,
        verdict.votes_needed
    );
    Some(format!("## Agreement\n\n{alpha}\n\n{counts}\n\n{}", length(verdict)))
}

fn length(verdict: &Verdict) -> String {
    let of = format!("N = {}", plural(verdict.length.answers, "answer"));
    match verdict.length.rho {
        Some(rho) => format!(
            "Length against rank: Spearman's rho {rho:.2} ({of}). 1 when the longer answer always scores higher, -1 when \
             the shorter does."
        ),
        None => {
            format!("Length against rank: undefined ({of}); it takes three answers of different lengths and scores.")
        }
    }
}

pub(super) fn plural(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn dissent(verdict: &Verdict, names: &Names) -> Option<String> {
    let mut lines = Vec::new();
    for dissent in &verdict.dissent {
        let Some(answer) = verdict.answers.iter().find(|answer| answer.id == dissent.answer) else { continue };
        let majority = match dissent.majority {
            Some(VoteVerdict::Reject) => "most reject it",
            Some(_) => "most approve it",
            None => "the votes are equal",
        };
        lines.push(format!("- Answer {} ({majority}):", answer.id));
        for vote in answer.votes.iter().filter(|vote| dissent.judges.contains(&vote.judge)) {
            let word = if vote.verdict == VoteVerdict::Approve { "approves" } else { "rejects" };
            let mut line = format!("  - judge {} ({}) {word}", vote.judge, names.judge(vote.judge));
            if !vote.summary.trim().is_empty() {
                line.push_str(": ");
                line.push_str(&inline(&vote.summary, LONGEST_TEXT));
            }
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| format!("## Dissent\n\n{}", lines.join("\n")))
}

pub(super) fn key_issues(verdict: &Verdict) -> Option<String> {
    let mut text =
        String::from("## Key issues\n\n| Named | Issue | Answers | By judges |\n| ---: | :--- | :--- | :--- |");
    for issue in verdict.key_issues.iter().take(MOST_ISSUES) {
        text.push_str(&format!(
            "\n| {} | {} | {} | {} |",
            issue.count,
            inline(&issue.text, LONGEST_TEXT),
            list(&issue.answers),
            list(&issue.raised_by)
        ));
    }
    let more = verdict.key_issues.len().saturating_sub(MOST_ISSUES);
    if more > 0 {
        text.push_str(&format!("\n\n{more} more are in `verdict.json`."));
    }
    (!verdict.key_issues.is_empty()).then_some(text)
}

pub(super) fn missing(verdict: &Verdict, names: &Names, context: &Context) -> Option<String> {
    let mut lines = Vec::new();
    for failed in &context.failed {
        let who = match failed.seat {
            Seat::Slot(id) => format!("Slot {id} ({})", names.slot(id)),
            Seat::Judge(id) => format!("Judge {id} ({})", names.judge(id)),
        };
        let reason = failed.reason.map(|reason| format!(", `{}`", reason.as_str())).unwrap_or_default();
        let log = failed.log.as_deref().map(|log| format!(" (log: `{}`)", terminal(log, LONGEST_TEXT)));
        lines.push(format!(
            "- {who} is {}{reason}{}. Next: {}",
            failed.state.as_str(),
            log.unwrap_or_default(),
            inline_commands(&failed.next_step)
        ));
    }
    let told = |seat: Seat| context.failed.iter().any(|failed| failed.seat == seat);
    for seat in verdict.missing_slots.iter().filter(|seat| !told(Seat::Slot(seat.id))) {
        lines.push(format!("- Slot {} ({}) is {}", seat.id, names.slot(seat.id), seat.state.as_str()));
    }
    for seat in verdict.missing_judges.iter().filter(|seat| !told(Seat::Judge(seat.id))) {
        lines.push(format!("- Judge {} ({}) is {}", seat.id, names.judge(seat.id), seat.state.as_str()));
    }
    for missing in &verdict.missing_votes {
        // Said above already, once for the judge.
        if verdict.missing_judges.iter().any(|seat| seat.id == missing.judge) {
            continue;
        }
        lines.push(format!(
            "- Judge {} ({}), answer {}: {}",
            missing.judge,
            names.judge(missing.judge),
            missing.answer,
            missing.reason.describe()
        ));
    }
    for vote in &verdict.inconsistent_votes {
        lines.push(format!(
            "- Judge {} ({}), answer {}: {} in one order and {} in the other, so no vote",
            vote.judge,
            names.judge(vote.judge),
            vote.answer,
            vote.first.as_str().to_lowercase(),
            vote.second.as_str().to_lowercase()
        ));
    }
    for judge in &verdict.judge_notes {
        for note in &judge.notes {
            let answer = note.answer.map(|id| format!(" on answer {id}")).unwrap_or_default();
            let quote = note.text.as_deref().map(|text| format!(": {}", inline(text, 60))).unwrap_or_default();
            lines.push(format!("- Judge {}{answer}: {}{quote}", judge.judge, note.kind.describe()));
        }
    }
    (!lines.is_empty()).then(|| format!("## Missing and noted\n\n{}", lines.join("\n")))
}

/// `text` with what stands between backticks kept as code, and everything else escaped.
#[must_use]
pub fn inline_commands(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            out.push_str(&format!("`{}`", terminal(part, LONGEST_TEXT)));
        } else {
            // Spaces beside code are part of the sentence.
            let space = |is: bool| if is { " " } else { "" };
            let blank = part.trim().is_empty();
            out.push_str(space(part.starts_with(char::is_whitespace)));
            out.push_str(&inline(part, LONGEST_TEXT));
            out.push_str(space(!blank && part.ends_with(char::is_whitespace)));
        }
    }
    out.trim().to_owned()
}

pub(super) fn conditions(verdict: &Verdict, context: &Context) -> Option<String> {
    let rule = match verdict.self_vote {
        SelfVote::Model => "no judge saw an answer of its own model (`--self-vote model`)",
        SelfVote::Slot => "each judge saw all answers but that of its own seat (`--self-vote slot`)",
        SelfVote::Include => "judges voted on their own answers too (`--self-vote include`)",
    };
    let recuse = match verdict.recuse {
        Recuse::None => "",
        Recuse::Vendor => "; nor one of its own vendor (`--recuse vendor`)",
    };
    let panel = &verdict.panel;
    if let Some(imported) = &verdict.imported {
        return Some(super::pairs::imported(imported, verdict, context));
    }
    let mut lines = vec![
        format!(
            "- Panel: {} of {} complete, {} of {} complete",
            panel.completed_slots,
            plural(panel.slots, "answer"),
            panel.completed_judges,
            plural(panel.judges, "judge")
        ),
        format!("- Own answers: {rule}{recuse}"),
        format!("- Passes: {}", passes(verdict.passes)),
        format!("- Authors that name themselves: {}", leaks(verdict)),
        format!("- Isolation: {}", inline(&context.isolation, LONGEST_TEXT)),
    ];
    lines.extend(context.notes.iter().map(|note| format!("- Note: {}", inline_commands(note))));
    Some(format!("## How it was made\n\n{}", lines.join("\n")))
}

const fn passes(passes: Passes) -> &'static str {
    match passes {
        Passes::One => "one, each judge in an order of its own",
        Passes::Two => {
            "two, the second in reverse order; a vote that flips is none, and of two equal votes the confidence is the \
             mean, halves rounded down (`--passes 2`)"
        }
    }
}

/// What was found of text by which authors name themselves, and what was done about it.
fn leaks(verdict: &Verdict) -> String {
    let mut parts = Vec::new();
    let mut answers: Vec<_> = verdict.answers.iter().collect();
    answers.sort_by_key(|answer| answer.id);
    for answer in answers {
        let found = answer.leaks;
        let times = |count: u32| plural(count, "time");
        let mut said = Vec::new();
        if found.masked > 0 {
            said.push(format!("{} masked for the judges", times(found.masked)));
        }
        if found.shown > 0 {
            let why = if verdict.leaks == Leaks::Flag { "left as it is" } else { "left in code" };
            said.push(format!("{} {why}", times(found.shown)));
        }
        if !said.is_empty() {
            parts.push(format!("answer {}, {}", answer.id, said.join(" and ")));
        }
        if found.mentions > 0 {
            let names = plural(found.mentions, "name");
            parts.push(format!("answer {} has {names} of models or vendors that it does not call its own", answer.id));
        }
    }
    parts.extend(verdict.left_out.iter().map(|id| format!("answer {id} was left out of the vote")));
    if parts.is_empty() {
        parts.push("none found".to_owned());
    }
    format!("{} (`--leaks {}`)", parts.join("; "), verdict.leaks)
}

pub(super) fn verification(verdict: &Verdict, context: &Context) -> Option<String> {
    let session = &context.session;
    let safe = session.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    let session = if safe && !session.is_empty() { session.as_str() } else { "SESSION" };
    let round = Round(verdict.round).folder();
    let head = context.head.as_ref().map_or_else(String::new, |head| {
        format!(" Before this verdict the chain ended with the hash `{head}`: the `prev` of the verdict's line.")
    });
    Some(format!(
        "## How to verify\n\n\
         `team verify {session}` computes all of this again from the folder, and names what differs first. Without \
         `team`, in the session's folder `{session}`:\n\n\
         ```sh\n\
         sha256sum {round}/votes.json {round}/verdict.json {round}/verdict.md response-*.md {round}/response-*.md\n\
         grep -h -e '\"event\":\"verdict\"' -e '\"event\":\"slot_ended\"' events.jsonl {round}/events.jsonl\n\
         ```\n\n\
         - The hashes of the first command stand in the lines of the second: `verdict` holds those of the votes and of \
         this verdict, `slot_ended` that of an answer or of a judge's reply.\n\
         - `verdict.json` follows from `{round}/votes.json` alone: each ballot as it was counted, with the order and the \
         aliases that the judge saw. What a judge was shown is `{round}/prompt-NN.md`, what it replied `{round}/response-NN.md`; \
         those of a further turn are in `{round}/pass-2/` and `repair/`.\n\
         - Each line of `events.jsonl` holds the SHA-256 of the line before it, so no line changes without all later \
         ones.{head}"
    ))
}
