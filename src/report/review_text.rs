//! The part of a report as text that tells of a review or a fix.

use super::paper::Paper;
use super::sheet::{FileRow, FindingCard, Repairs, Reviewed};

/// How many lines of one text of a finding are shown; `team show SESSION F01` prints the whole.
const MOST_LINES: usize = 6;

/// So many findings of a group are told with their texts, the rest in a line each.
const MOST_WHOLE: usize = 40;

/// So many files are listed of those that were not looked at.
const MOST_FILES: usize = 50;

/// Everything about the review; `session` is what commands call it by.
pub(super) fn review(reviewed: &Reviewed, session: &str, page: &mut Paper) {
    if let Some(question) = &reviewed.question {
        page.heading("What is to be decided");
        question.lines().for_each(|line| page.paragraph("", line));
    }
    findings(reviewed, session, page);
    if let Some(repairs) = &reviewed.repairs {
        self::repairs(repairs, page);
    }
    panels(reviewed, page);
    coverage(reviewed, page);
    if !reviewed.files.is_empty() {
        page.heading("Files");
        reviewed.files.iter().for_each(|(file, what)| page.paragraph("- ", &format!("{file}: {what}")));
    }
}

fn findings(reviewed: &Reviewed, session: &str, page: &mut Paper) {
    page.heading("Findings");
    if let Some(problem) = &reviewed.problem {
        page.paragraph("! ", &format!("{problem}."));
    } else if reviewed.groups.is_empty() {
        page.paragraph("", reviewed.nothing);
    }
    for group in &reviewed.groups {
        page.heading(&format!("{} ({})", group.title, group.findings.len()));
        for (at, finding) in group.findings.iter().enumerate() {
            let place = finding.place.as_ref().map(|place| format!(" {place}")).unwrap_or_default();
            let consensus = finding.consensus.as_ref().map(|word| format!(", {word}")).unwrap_or_default();
            let blocks = if finding.blocks { ", in the way" } else { "" };
            page.paragraph(
                &format!("{}  ", finding.id),
                &format!("{}{place}: {} ({}{consensus}{blocks})", finding.severity, finding.title, finding.action),
            );
            if at < MOST_WHOLE {
                texts(finding, Extent::Excerpt, page);
            }
        }
    }
    if reviewed.left_out > 0 {
        page.paragraph("! ", &format!("{} more findings are in `findings.jsonl`.", reviewed.left_out));
    }
    if reviewed.count() > 0 {
        page.blank();
        page.paragraph("", &format!("The whole of one, with what happened to it: team show {session} F01"));
    }
    page.heading("What the verdict rests on");
    page.paragraph("reviewed  ", &reviewed.subject);
    if let Some(intent) = &reviewed.intent {
        page.paragraph("meant to  ", intent);
    }
    for (name, value) in &reviewed.rules {
        page.paragraph("", &format!("{name}: {value}"));
    }
    if !reviewed.notes.is_empty() {
        page.heading("To know");
        reviewed.notes.iter().for_each(|note| page.paragraph("- ", note));
    }
}

/// How much of a finding is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The first lines of each text.
    Excerpt,
    /// All of it.
    Whole,
}

fn texts(finding: &FindingCard, extent: Extent, page: &mut Paper) {
    let most = if extent == Extent::Whole { usize::MAX } else { MOST_LINES };
    let mut text = |name: &str, words: &str| {
        if words.trim().is_empty() {
            return;
        }
        if !name.is_empty() {
            page.paragraph("  ", name);
        }
        let mut shown = 0;
        let mut lines = words.lines();
        for line in lines.by_ref() {
            if shown >= most {
                break;
            }
            shown += page.quoted(line, most.saturating_sub(shown));
        }
        if lines.next().is_some() || shown >= most {
            page.paragraph("  | ", "[...]");
        }
    };
    text("", &finding.description);
    text("evidence:", &finding.evidence);
    text("suggestion:", &finding.suggestion);
    text("a person said:", finding.note.as_deref().unwrap_or_default());
    if let Some(commit) = &finding.caused_by {
        page.paragraph("  ", &format!("caused by our own commit {commit}"));
    }
    let counted = finding.counted.as_ref().map(|counted| format!(" Votes: {counted}.")).unwrap_or_default();
    page.paragraph("  ", &format!("{}.{counted}", finding.raised));
    for vote in &finding.votes {
        let name = vote.judge.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        let confidence = vote.confidence.map(|value| format!(" ({value})")).unwrap_or_default();
        let reason = if vote.reason.is_empty() { String::new() } else { format!(": {}", vote.reason) };
        let line = format!("judge {}{name} {}{confidence}{reason}", vote.judge.id, vote.words);
        page.paragraph(&format!("  {} ", vote.sign), &line);
    }
    if extent == Extent::Whole && !finding.history.is_empty() {
        page.heading("What happened to it");
        finding.history.iter().for_each(|line| page.paragraph("- ", line));
    }
}

/// One finding with everything about it, for a terminal of this many columns.
#[must_use]
pub fn finding_text(finding: &FindingCard, width: usize) -> String {
    let mut page = Paper::new(width);
    page.paragraph(&format!("{}  ", finding.id), &finding.title);
    page.blank();
    let consensus = finding.consensus.as_ref().map(|word| format!(", {word}")).unwrap_or_default();
    let blocks = if finding.blocks { ", in the way" } else { "" };
    for (name, value) in [
        ("severity  ", finding.severity.to_owned()),
        ("state     ", format!("{}{consensus}{blocks}", finding.state)),
        ("action    ", finding.action.to_owned()),
        ("where     ", finding.place.clone().unwrap_or_else(|| "no file".to_owned())),
    ] {
        page.paragraph(name, &value);
    }
    page.blank();
    texts(finding, Extent::Whole, &mut page);
    page.finish()
}

fn repairs(repairs: &Repairs, page: &mut Paper) {
    page.heading("Repairs");
    if let Some(why) = &repairs.why {
        page.paragraph("", &format!("Why it ended: {why}"));
    }
    page.paragraph("", &repairs.result);
    for (command, what) in &repairs.commands {
        page.paragraph("  ", &format!("{command}   # {what}"));
    }
    for round in &repairs.rounds {
        let commit = round.commit.as_ref().map(|commit| format!(" {commit}")).unwrap_or_default();
        let mended =
            if round.findings.is_empty() { String::new() } else { format!(", for {}", round.findings.join(", ")) };
        page.paragraph(&format!("round {}  ", round.number), &format!("{}{commit}{mended}", round.end));
        for (number, (end, lines)) in (1..).zip(&round.attempts) {
            page.paragraph("  ", &format!("attempt {number}: {end}"));
            lines.iter().for_each(|line| page.paragraph("    ", line));
        }
    }
    match repairs.checks.as_slice() {
        [] => page.paragraph("", "No check is configured, so nothing but the reviews says that it works."),
        checks => checks.iter().for_each(|check| page.paragraph("check  ", check)),
    }
    if !repairs.caused.is_empty() {
        page.heading("Caused by our own repairs");
        for row in &repairs.caused {
            page.paragraph("- ", &format!("{} by {}, {}: {}", row.id, row.commit, row.state, row.title));
        }
    }
    if !repairs.decisions.is_empty() {
        page.heading("What people decided");
        repairs.decisions.iter().for_each(|decision| page.paragraph("- ", decision));
    }
}

fn panels(reviewed: &Reviewed, page: &mut Paper) {
    page.heading("Who reviewed and who voted");
    if reviewed.panels.is_empty() {
        page.paragraph("", "No review was begun yet.");
    }
    let several = reviewed.panels.len() > 1;
    for row in &reviewed.panels {
        let what = if row.what.is_empty() { String::new() } else { format!("{}; ", row.what) };
        let open = row.open.map(|open| format!("; {open} open at the bar after it")).unwrap_or_default();
        let read = format!("{} of {} reviews can be read", row.usable, row.panel);
        let voters = match row.voters.as_str() {
            told if told.starts_with(|c: char| c.is_ascii_digit()) => format!("{told} judges gave votes"),
            told => told.to_owned(),
        };
        let line = format!("{what}{read}, {} findings raised; {voters}{open}", row.raised);
        page.paragraph(&format!("review {}  ", row.number), &line);
    }
    for row in &reviewed.reviewers {
        let review = if several { format!("review {}, ", row.panel) } else { String::new() };
        let name = row.seat.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        let found = row.found.as_ref().map(|found| format!("; found {found}")).unwrap_or_default();
        let fate = match (row.sustained, row.rejected) {
            (Some(sustained), Some(rejected)) if row.usable => format!(" ({sustained} sustained, {rejected} rejected)"),
            _ => String::new(),
        };
        let sign = if row.lost { "! " } else { "" };
        let who = format!("{review}reviewer {}{name}", row.seat.id);
        page.paragraph(sign, &format!("{who}: {}, {}{found}{fate}", row.state, row.told));
    }
    for row in &reviewed.judges {
        let review = if several { format!("review {}, ", row.panel) } else { String::new() };
        let name = row.seat.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        let votes = format!("{} sustain, {} reject, {} ask, {} missing", row.sustain, row.reject, row.ask, row.missing);
        let who = format!("{review}judge {}{name}", row.seat.id);
        page.paragraph("", &format!("{who}: {}, saw {}: {votes}", row.state, row.shown));
    }
    if !reviewed.decided && !reviewed.reviewers.is_empty() {
        page.paragraph("", "Who found what is told with the verdict.");
    }
}

fn coverage(reviewed: &Reviewed, page: &mut Paper) {
    let Some(coverage) = &reviewed.coverage else { return };
    page.heading("Coverage");
    page.paragraph("", &format!("{}.", coverage.line));
    let mut list = |heading: &str, files: &[FileRow]| {
        if files.is_empty() {
            return;
        }
        page.paragraph("", &format!("{heading}:"));
        for file in files.iter().take(MOST_FILES) {
            let note = file.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            page.paragraph("- ", &format!("{} ({}){note}", file.path, file.change));
        }
        if files.len() > MOST_FILES {
            page.paragraph("- ", &format!("and {} more", files.len() - MOST_FILES));
        }
    };
    list("Not looked at", &coverage.omitted);
    list("Looked at", &coverage.seen);
}
