//! What a commit of a repair says about itself. Titles were cleaned when they were read: no character in them acts.

use crate::findings::{FindingId, Findings};

/// The most characters of the first line, by the habit of git.
const SUBJECT: usize = 72;

/// The message: a subject with the ids, then a line for each finding.
pub(super) fn message(round: u32, selected: &[FindingId], findings: &Findings, session: &str) -> String {
    let ids: Vec<String> = selected.iter().map(ToString::to_string).collect();
    let first = selected.first().and_then(|id| findings.get(*id)).map(|record| record.finding.title.as_str());
    let shown = match ids.as_slice() {
        [one] => one.clone(),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
        [] => String::new(),
    };
    let room = SUBJECT.saturating_sub(shown.chars().count() + "fix:  ()".len());
    let mut title: String = first.unwrap_or("what a review found").chars().take(room).collect();
    if first.is_some_and(|first| first.chars().count() > room) {
        title.pop();
        title.push('…');
    }
    let mut text = format!("fix: {title} ({shown})\n\n");
    for id in selected {
        let Some(record) = findings.get(*id) else { continue };
        let place = record.finding.place().map(|place| format!(" {place}:")).unwrap_or_default();
        text.push_str(&format!("- {id}{place} {}\n", record.finding.title));
    }
    text.push_str(&format!("\nFindings: {}\nRound: {round}\nSession: {session}\n", ids.join(", ")));
    text
}
