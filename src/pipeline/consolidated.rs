//! `consolidated.md`: what a panel of reviewers found and what judges made of it, for people. It is written when the vote is
//! over, and names who found what.

use super::markdown::{code, fenced, paragraphs, sentence};
use crate::findings::{
    FindingBallot, FindingRecord, FindingState, FindingVote, Findings, ReviewVerdict, Severity, Witness,
    describe_missing,
};
use crate::ids::SlotId;
use crate::report::ci::SeenFile;
use crate::verdict::{inline_commands, inline_markdown as inline};

/// What stands for a model that is not named yet.
const UNNAMED: &str = "named at the end";

/// The most characters of a text of a model.
const TEXT: usize = 4000;
/// The most characters of a name.
const NAME: usize = 300;
/// The most files that are listed, of each kind.
const FILES: usize = 500;

/// What the document is made of.
#[derive(Debug, Clone, Copy)]
pub struct Consolidated<'a> {
    /// What the review comes to.
    pub verdict: &'a ReviewVerdict,
    /// What the ledger says.
    pub findings: &'a Findings,
    /// The panel's folder, as the ledger names it: its findings come first, those of other rounds that are open after them.
    pub folder: &'a str,
    /// The reviewers, by seat.
    pub reviewers: &'a [Reviewer],
    /// The judges, by seat.
    pub judges: &'a [FindingJudge],
    /// Every file of what was reviewed: looked at, or why not.
    pub files: &'a [SeenFile],
    /// What a reader must know before the verdict, a line each.
    pub first: &'a [String],
    /// What a reader should know besides, a line each.
    pub notes: &'a [String],
}

/// A reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewer {
    /// Its seat.
    pub id: SlotId,
    /// Its model; `None` where names come later.
    pub model: Option<String>,
    /// How it ended.
    pub outcome: ReviewOutcome,
}

/// How a reviewer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewOutcome {
    /// With so many findings that can be read, and what a reader should know about them.
    Found {
        /// How many.
        count: usize,
        /// What to know, a line each.
        notes: Vec<String>,
    },
    /// Without a review that can be read, for this reason.
    Failed(String),
}

/// A judge of findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingJudge {
    /// Its id in the vote.
    pub id: SlotId,
    /// Its model; `None` where names come later.
    pub model: Option<String>,
    /// What it said.
    pub ballot: FindingBallot,
}

/// The document.
#[must_use]
pub fn consolidated(parts: &Consolidated<'_>) -> String {
    let told = sentence(&inline(&parts.verdict.sentence, TEXT));
    let mut out = format!("# Review: {}\n\n{told}.\n", parts.verdict.decision.as_str());
    if !parts.first.is_empty() {
        out.push('\n');
    }
    parts.first.iter().for_each(|note| out.push_str(&format!("- {}\n", sentence(&inline_commands(note)))));
    let of_panel = |record: &FindingRecord| match &record.raised_by {
        Witness::Panel { folder, .. } => folder == parts.folder,
        Witness::Votes { .. } | Witness::Person { .. } => false,
    };
    let (own, others): (Vec<&FindingRecord>, Vec<&FindingRecord>) =
        parts.findings.iter().partition(|record| of_panel(record));
    let in_state = |states: &[FindingState]| -> Vec<&FindingRecord> {
        let mut found: Vec<&FindingRecord> =
            own.iter().copied().filter(|record| states.contains(&record.state)).collect();
        let consensus = |record: &FindingRecord| record.ruling.as_ref().map(|ruling| ruling.consensus);
        found.sort_by(|one, other| {
            let worst = other.finding.severity.cmp(&one.finding.severity);
            worst.then_with(|| consensus(other).cmp(&consensus(one))).then(one.id.cmp(&other.id))
        });
        found
    };
    push_overview(&mut out, &own);
    let sustained = in_state(&[FindingState::Sustained, FindingState::FixClaimed]);
    parts.push_section(&mut out, "Sustained", &sustained, "Nothing was sustained.");
    let unsettled = in_state(&[FindingState::NeedsPerson, FindingState::Raised]);
    parts.push_section(&mut out, "Needs a person", &unsettled, "");
    parts.push_section(&mut out, "Rejected", &in_state(&[FindingState::Rejected]), "");
    parts.push_section(
        &mut out,
        "Mended or declined",
        &in_state(&[FindingState::Verified, FindingState::Declined]),
        "",
    );
    let open: Vec<&FindingRecord> = others.into_iter().filter(|record| record.state.is_open()).collect();
    if !open.is_empty() {
        out.push_str("\n## Open from elsewhere\n\nFound by other rounds or added by a person, and still open:\n\n");
    }
    for record in open {
        out.push_str(&format!(
            "- {} ({}, {}): {}\n",
            record.id,
            record.finding.severity,
            record.state,
            inline(&record.finding.title, NAME)
        ));
    }
    parts.push_who(&mut out, &own);
    parts.push_coverage(&mut out);
    if !parts.notes.is_empty() {
        out.push_str("\n## To know\n\n");
    }
    parts.notes.iter().for_each(|note| out.push_str(&format!("- {}\n", sentence(&inline_commands(note)))));
    out
}

/// A line for each of several findings, before all is said of each.
fn push_overview(out: &mut String, records: &[&FindingRecord]) {
    if records.len() < 2 {
        return;
    }
    out.push_str("\n| Finding | Severity | State | Where | What |\n| :--- | :--- | :--- | :--- | :--- |\n");
    for record in records {
        let finding = &record.finding;
        let place = finding.place().map_or_else(|| "-".to_owned(), |place| code(&place));
        let title = inline(&finding.title, NAME);
        out.push_str(&format!("| {} | {} | {} | {place} | {title} |\n", record.id, finding.severity, record.state));
    }
}

impl Consolidated<'_> {
    fn push_section(&self, out: &mut String, heading: &str, records: &[&FindingRecord], nothing: &str) {
        if records.is_empty() {
            if !nothing.is_empty() {
                out.push_str(&format!("\n## {heading}\n\n{nothing}\n"));
            }
            return;
        }
        out.push_str(&format!("\n## {heading} ({})\n", records.len()));
        records.iter().for_each(|record| self.push_finding(out, record));
    }

    fn push_finding(&self, out: &mut String, record: &FindingRecord) {
        let finding = &record.finding;
        out.push_str(&format!("\n### {} {}: {}\n\n", record.id, finding.severity, inline(&finding.title, NAME)));
        let place = finding.place().map_or_else(|| "about no file".to_owned(), |place| code(&place));
        let consensus = record.ruling.as_ref().map(|ruling| format!(", {}", ruling.consensus)).unwrap_or_default();
        let blocks = if self.verdict.blocking.contains(&record.id) { "; **in the way**" } else { "" };
        out.push_str(&format!("{place}; {}{consensus}; {}{blocks}\n", record.state, finding.action));
        out.push_str(&format!("\n{}\n", paragraphs(&finding.description)));
        if !finding.evidence.trim().is_empty() {
            out.push_str(&format!("\nEvidence:\n\n{}", fenced(&finding.evidence)));
        }
        if !finding.suggestion.trim().is_empty() {
            out.push_str(&format!("\nSuggestion: {}\n", paragraphs(&finding.suggestion)));
        }
        if let Some(origin) = &record.declined_before {
            out.push_str(&format!("\nDeclined before, {}.\n", inline(&origin.told(), TEXT)));
        }
        if let Some(note) = record.note.as_ref().filter(|note| !note.as_str().trim().is_empty()) {
            out.push_str(&format!("\nA person said: {}\n", paragraphs(note.as_str())));
        }
        self.push_votes(out, record);
    }

    /// The votes on a finding, each with its reason.
    fn push_votes(&self, out: &mut String, record: &FindingRecord) {
        if let Some(tally) = record.tally() {
            out.push_str(&format!(
                "\nRaised by {} of {} reviewers. Votes: {} sustain, {} reject, {} ask a person.\n",
                tally.raised, tally.panel, tally.sustain, tally.reject, tally.ask
            ));
        }
        let mut lines = Vec::new();
        for judge in self.judges {
            let model = judge.model.as_ref().map(|model| format!(" ({})", inline(model, NAME))).unwrap_or_default();
            let name = format!("Judge {}{model}", judge.id);
            if let Some(vote) = judge.ballot.votes.iter().find(|vote| vote.finding == record.id) {
                let confidence = vote.confidence.map(|number| format!(" ({number}/10)")).unwrap_or_default();
                let said = match vote.verdict {
                    FindingVote::Sustain => "sustains",
                    FindingVote::Reject => "rejects",
                    FindingVote::Ask => "asks a person",
                };
                let summary = inline(&vote.summary, TEXT);
                let summary = if summary.is_empty() { summary } else { format!(": {summary}") };
                lines.push(format!("- {name} {said}{confidence}{summary}\n"));
            } else if let Some(missing) = judge.ballot.missing.iter().find(|missing| missing.finding == record.id) {
                lines.push(format!("- {name} has no valid vote: {}\n", describe_missing(missing.reason)));
            }
        }
        if !lines.is_empty() {
            out.push('\n');
        }
        lines.iter().for_each(|line| out.push_str(line));
    }

    /// Who found what, and who did not answer.
    fn push_who(&self, out: &mut String, records: &[&FindingRecord]) {
        out.push_str("\n## Who found what\n\n| Seat | Model | Found | Sustained | Rejected |\n| :--- | :--- | :--- | ---: | ---: |\n");
        for reviewer in self.reviewers {
            let model = reviewer.model.as_ref().map_or_else(|| UNNAMED.to_owned(), |model| inline(model, NAME));
            let raised: Vec<&&FindingRecord> =
                records.iter().filter(|record| record.raisers().contains(&reviewer.id)).collect();
            let of = |states: &[FindingState]| raised.iter().filter(|record| states.contains(&record.state)).count();
            let found = match &reviewer.outcome {
                ReviewOutcome::Failed(why) => format!("**no review that can be read**: {}", inline(why, TEXT)),
                ReviewOutcome::Found { .. } if raised.is_empty() => "nothing".to_owned(),
                ReviewOutcome::Found { .. } => {
                    raised.iter().map(|record| record.id.to_string()).collect::<Vec<_>>().join(", ")
                }
            };
            if let ReviewOutcome::Failed(_) = &reviewer.outcome {
                out.push_str(&format!("| {} | {} | {found} | - | - |\n", reviewer.id, model));
                continue;
            }
            let sustained = of(&[FindingState::Sustained, FindingState::FixClaimed, FindingState::Verified]);
            out.push_str(&format!(
                "| {} | {} | {found} | {sustained} | {} |\n",
                reviewer.id,
                model,
                of(&[FindingState::Rejected])
            ));
        }
        let told = self.reviewers.iter().filter_map(|reviewer| match &reviewer.outcome {
            ReviewOutcome::Found { notes, .. } => Some(notes.iter().map(move |note| (reviewer.id, note))),
            ReviewOutcome::Failed(_) => None,
        });
        let mut told = told.flatten().peekable();
        if told.peek().is_some() {
            out.push('\n');
        }
        told.for_each(|(id, note)| out.push_str(&format!("- Reviewer {id}: {}\n", inline(note, TEXT))));
    }

    fn push_coverage(&self, out: &mut String) {
        if !self.files.is_empty() {
            out.push('\n');
            out.push_str(&coverage(self.files));
        }
    }
}

/// Which files were looked at, and which not, with the reason: a section of a document; empty where there are none.
pub(crate) fn coverage(files: &[SeenFile]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let (seen, omitted): (Vec<&SeenFile>, Vec<&SeenFile>) = files.iter().partition(|file| file.omitted.is_none());
    let mut out = format!("## Coverage\n\n{}.\n", looked_at(seen.len(), files.len()));
    for (heading, files) in [("Not looked at", omitted), ("Looked at", seen)] {
        if files.is_empty() {
            continue;
        }
        out.push_str(&format!("\n{heading}:\n\n"));
        for file in files.iter().take(FILES) {
            let reason = file.omitted.map(|reason| format!(": {}", reason.describe())).unwrap_or_default();
            let note = file.note.as_deref().map(|note| format!(" ({})", inline_commands(note))).unwrap_or_default();
            let change = file.change.as_str();
            out.push_str(&format!("- {} ({change}){reason}{note}\n", code(&file.path)));
        }
        if files.len() > FILES {
            out.push_str(&format!("- and {} more\n", files.len() - FILES));
        }
    }
    out
}

/// How many files of how many were looked at, in a sentence.
fn looked_at(seen: usize, all: usize) -> String {
    match (seen, all) {
        (1, 1) => "The one file was looked at".to_owned(),
        (1, _) => format!("1 of {all} files was looked at"),
        _ => format!("{seen} of {all} files were looked at"),
    }
}

/// How many findings of each severity are sustained, the worst first: for a line on a terminal.
#[must_use]
pub fn sustained_by_severity(findings: &Findings) -> Vec<(Severity, usize)> {
    let of = |severity| {
        let found = findings.iter().filter(|record| {
            record.finding.severity == severity
                && matches!(record.state, FindingState::Sustained | FindingState::FixClaimed)
        });
        found.count()
    };
    Severity::ALL.iter().rev().map(|severity| (*severity, of(*severity))).filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;
    use crate::findings::{
        Action, FailOn, Finding, FindingCast, FindingId, FindingMissing, FindingTally, FindingVote, LedgerEntry, Lines,
        MissingSeats, Remark, Ruling, Seats, decide_review,
    };
    use crate::judging::MissingReason;
    use crate::report::ci::{ChangeWord, OmissionReason};

    const FOLDER: &str = "reviews/impl-review";

    fn slot(number: u16) -> SlotId {
        format!("{number:02}").parse().unwrap()
    }

    fn raise(findings: &mut Findings, severity: Severity, title: &str, folder: &str, seats: &[u16]) -> FindingId {
        let id = findings.next_id();
        let content = Finding {
            severity,
            action: Action::AutoFix,
            file: Some("src/a.rs".to_owned()),
            lines: Lines::new(3, 5),
            title: title.to_owned(),
            description: format!("{title} in words"),
            evidence: "Line 3.".to_owned(),
            suggestion: String::new(),
        };
        let by = Witness::Panel { folder: folder.to_owned(), slots: seats.iter().map(|n| slot(*n)).collect() };
        findings.apply(&LedgerEntry::Raised { finding: id, round: 1, by, content, caused_by: None }).unwrap();
        id
    }

    fn rule(findings: &mut Findings, finding: FindingId, raised: u32, sustain: u32, reject: u32) {
        let tally = FindingTally { panel: 3, raised, sustain, reject, ask: 0 };
        let by = Witness::Votes { folder: format!("{FOLDER}/judging"), tally, votes: Vec::new() };
        let ruling = Ruling { finding, round: 1, by, consensus: tally.consensus() };
        findings.apply(&LedgerEntry::ruled(ruling, tally.standing())).unwrap();
    }

    fn cast(finding: FindingId, verdict: FindingVote, summary: &str) -> FindingCast {
        FindingCast { finding, verdict, confidence: Some(8), summary: summary.to_owned() }
    }

    fn judge(number: u16, votes: Vec<FindingCast>, missing: Vec<FindingMissing>) -> FindingJudge {
        let ballot = FindingBallot { votes, missing, notes: Vec::new() };
        FindingJudge { id: slot(number), model: Some(format!("model-{number}")), ballot }
    }

    fn document(findings: &Findings, reviewers: &[Reviewer], judges: &[FindingJudge], files: &[SeenFile]) -> String {
        let seats = Seats { panel: 3, usable: 2, quorum: 2, missing: MissingSeats::Tolerated };
        let verdict = decide_review(findings.judged(), FailOn::default(), seats);
        let notes = ["say | this".to_owned()];
        let parts = Consolidated {
            verdict: &verdict,
            findings,
            folder: FOLDER,
            reviewers,
            judges,
            files,
            first: &[],
            notes: &notes,
        };
        consolidated(&parts)
    }

    fn reviewer(number: u16, outcome: ReviewOutcome) -> Reviewer {
        Reviewer { id: slot(number), model: Some(format!("model_{number}")), outcome }
    }

    #[test]
    fn the_document_tells_what_was_sustained_rejected_and_open_who_found_it_and_what_was_looked_at() {
        let mut findings = Findings::default();
        let low = raise(&mut findings, Severity::Low, "Blemish", FOLDER, &[2]);
        let invented = raise(&mut findings, Severity::Critical, "Invented", FOLDER, &[2]);
        let real = raise(&mut findings, Severity::High, "Off by one", FOLDER, &[1, 2]);
        let unclear = raise(&mut findings, Severity::High, "Unclear", FOLDER, &[1]);
        raise(&mut findings, Severity::Medium, "From before", "reviews/plan-review", &[3]);
        rule(&mut findings, low, 1, 1, 0);
        rule(&mut findings, invented, 1, 0, 2);
        rule(&mut findings, real, 2, 1, 0);
        rule(&mut findings, unclear, 1, 1, 1);
        let missing = FindingMissing { finding: unclear, reason: MissingReason::NotVoted };
        let judges = [
            judge(
                1,
                vec![
                    cast(invented, FindingVote::Reject, "No such line."),
                    cast(real, FindingVote::Sustain, "So it is."),
                ],
                vec![missing],
            ),
            judge(2, vec![cast(invented, FindingVote::Reject, "Made up.")], Vec::new()),
        ];
        let found = |count| ReviewOutcome::Found { count, notes: vec!["a note".to_owned()] };
        let reviewers = [
            reviewer(1, found(2)),
            reviewer(2, ReviewOutcome::Found { count: 3, notes: Vec::new() }),
            reviewer(3, ReviewOutcome::Failed("bad_output: no block".to_owned())),
        ];
        let file = |path: &str, omitted| SeenFile {
            path: path.to_owned(),
            old_path: None,
            change: ChangeWord::Modified,
            sent_bytes: 1,
            omitted,
            note: None,
        };
        let files = [file("src/a.rs", None), file(".env", Some(OmissionReason::Secret))];
        let text = document(&findings, &reviewers, &judges, &files);
        let mut rest = text.as_str();
        for expected in [
            "# Review: blocked\n\nBlocked: 1 finding (F03) is sustained at high:majority or above.\n\n| Finding |",
            "| F03 | high | sustained | `src/a.rs:3-5` | Off by one |\n",
            "## Sustained (2)\n\n### F03 high: Off by one\n\n`src/a.rs:3-5`; sustained, unanimous; auto-fix; **in the way**\n",
            "Off by one in words\n\nEvidence:\n\n```\nLine 3.\n```\n\nRaised by 2 of 3 reviewers. Votes: 1 sustain, 0 reject, 0 ask a person.\n",
            "- Judge 01 (model-1) sustains (8/10): So it is.\n",
            "### F01 low: Blemish\n",
            "## Needs a person (1)\n\n### F04 high: Unclear\n",
            "- Judge 01 (model-1) has no valid vote: no vote on this finding\n",
            "## Rejected (1)\n\n### F02 critical: Invented\n",
            "- Judge 01 (model-1) rejects (8/10): No such line.\n- Judge 02 (model-2) rejects (8/10): Made up.\n",
            "## Open from elsewhere\n",
            "- F05 (medium, not voted on): From before\n",
            "## Who found what\n",
            "| 01 | model_1 | F03, F04 | 1 | 0 |\n| 02 | model_2 | F01, F02, F03 | 2 | 1 |\n",
            "| 03 | model_3 | **no review that can be read**: bad_output: no block | - | - |\n\n- Reviewer 01: a note\n",
            "## Coverage\n\n1 of 2 files was looked at.\n\nNot looked at:\n\n- `.env` (modified): a file that holds keys",
            "Looked at:\n\n- `src/a.rs` (modified)\n",
            "## To know\n\n- Say \\| this\n",
        ] {
            let at =
                rest.find(expected).unwrap_or_else(|| panic!("{expected}\n--- not in, or not in this place:\n{text}"));
            rest = &rest[at + expected.len()..];
        }
        assert_eq!(sustained_by_severity(&findings), [(Severity::High, 1), (Severity::Low, 1)]);
    }

    #[test]
    fn a_review_that_found_nothing_says_so() {
        let reviewers = [reviewer(1, ReviewOutcome::Found { count: 0, notes: Vec::new() })];
        let text = document(&Findings::default(), &reviewers, &[], &[]);
        assert!(text.starts_with("# Review: passed\n\nPassed: nothing was found; 2 of 3 reviewers"), "{text}");
        assert!(
            text.contains("Nothing was sustained.") && text.contains("| 01 | model_1 | nothing | 0 | 0 |"),
            "{text}"
        );
        assert!(!text.contains("## Rejected") && !text.contains("## Coverage"), "{text}");
    }

    #[test]
    fn no_text_of_a_model_or_a_file_is_markup() {
        const HOSTILE: &str =
            "x\n# h\n<script>alert(1)</script> | ![i](http://e.example) \u{202e}\u{1b}[2J `c`\n## Sustained (9)";
        let mut findings = Findings::default();
        let id = raise(&mut findings, Severity::High, HOSTILE, FOLDER, &[1]);
        rule(&mut findings, id, 1, 2, 0);
        findings
            .apply(&LedgerEntry::Declined { finding: id, round: 1, note: Remark::new(HOSTILE), before: None })
            .unwrap();
        let judges = [FindingJudge {
            model: Some(HOSTILE.to_owned()),
            ..judge(1, vec![cast(id, FindingVote::Ask, HOSTILE)], Vec::new())
        }];
        let reviewers =
            [Reviewer { model: Some(HOSTILE.to_owned()), ..reviewer(1, ReviewOutcome::Failed(HOSTILE.to_owned())) }];
        let files = [SeenFile {
            path: HOSTILE.to_owned(),
            old_path: None,
            change: ChangeWord::Added,
            sent_bytes: 0,
            omitted: Some(OmissionReason::Binary),
            note: Some(HOSTILE.to_owned()),
        }];
        let text = document(&findings, &reviewers, &judges, &files);
        assert!(!text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");
        let mut headings = Vec::new();
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. } | Tag::Link { .. }) => {
                    panic!("{event:?} in {text}")
                }
                Event::Start(Tag::Heading { .. }) => headings.push(String::new()),
                Event::Text(words) => headings.last_mut().unwrap().push_str(&words),
                _ => {}
            }
        }
        let ours =
            ["Review: ", "Sustained", "Mended or declined (1)", "F01 high: ", "Who found what", "Coverage", "To know"];
        assert_eq!(headings.len(), ours.len(), "{text}");
        assert!(headings.iter().zip(ours).all(|(heading, ours)| heading.starts_with(ours)), "{headings:?}");
        let row = text.lines().find(|line| line.starts_with("| 01 |")).unwrap();
        assert_eq!(row.replace("\\|", "").matches('|').count(), 6, "{row}");
    }
}
