//! What a fix repaired: its rounds, its result and what can be done with it.

use super::findings::short;
use super::model::{CausedRow, RepairRow, Repairs};
use super::plan::FixTerms;
use crate::findings::Findings;
use crate::report::fix_record::{FixBranch, FixRecord, FixRound};
use crate::secrets::Redactor;
use crate::session::{AttemptEnd, Event, FixStop, GivenUp, Record, branch_begin_told, shell_word};

/// The most lines that are told of one attempt.
const MOST_LINES: usize = 20;

pub(super) fn of(
    fix: &FixRecord,
    terms: &FixTerms,
    records: &[Record],
    findings: &Findings,
    redactor: &Redactor,
) -> Repairs {
    let stop = fix.stopped.as_deref();
    let why = stop.map(|word| match FixStop::of_word(word) {
        Some(stop) => stop.sentence().to_owned(),
        None => format!("It ended for a reason that this version does not know: {word}."),
    });
    let (result, commands) = result(fix);
    let check = |what: &str, command: &[String]| {
        let words: Vec<String> = command.iter().map(|word| shell_word(word)).collect();
        (!command.is_empty()).then(|| redactor.text(&format!("{what}: {}", words.join(" "))))
    };
    let caused = findings.iter().filter_map(|record| {
        Some(CausedRow {
            id: record.id.to_string(),
            commit: short(record.caused_by.as_deref()?),
            state: record.state.as_str(),
            title: redactor.text(&record.finding.title),
        })
    });
    Repairs {
        why,
        result,
        commands,
        checks: [check("test", &terms.test), check("lint", &terms.lint)].into_iter().flatten().collect(),
        max_rounds: terms.max_rounds,
        rounds: fix.rounds.iter().map(|round| row(round, redactor)).collect(),
        caused: caused.collect(),
        decisions: records.iter().filter_map(decided).map(|told| redactor.text(&told)).collect(),
    }
}

/// What there is of a result, and what can be done with it.
fn result(fix: &FixRecord) -> (String, Vec<(String, &'static str)>) {
    let count = match fix.commits() {
        0 => "no commit".to_owned(),
        1 => "one commit".to_owned(),
        count => format!("{count} commits"),
    };
    let Some(FixBranch { name, commit }) = &fix.branch else {
        let told = match (fix.commits(), fix.stopped.is_some()) {
            (0, true) => {
                "No repair was committed, so there is no branch. Your work tree, index and branches are as they were."
                    .to_owned()
            }
            (0, false) => "No repair is committed yet.".to_owned(),
            (_, true) => {
                format!("There is no branch. What was committed ({count}) is in `repository/` of the session's folder.")
            }
            (_, false) => format!(
                "Committed so far: {count}, in `repository/` of the session's folder. The branch is made at the end."
            ),
        };
        return (told, Vec::new());
    };
    let also = branch_begin_told(fix.begins).map(|told| format!(" {told}")).unwrap_or_default();
    let told = format!(
        "Branch `{name}` at {} has {count}. Nothing was pushed, and your work tree, index and other branches are as they were.{also}",
        short(commit)
    );
    (told, fix.commands())
}

fn row(round: &FixRound, redactor: &Redactor) -> RepairRow {
    let end = match (&round.commit, round.given_up) {
        (Some(_), _) => "committed",
        (None, Some(GivenUp::Nothing)) => "nothing was changed",
        (None, Some(GivenUp::Refused)) => "no result that counts",
        (None, None) => "not finished",
    };
    let attempt = |attempt: &AttemptEnd| {
        let (end, lines): (&'static str, &[String]) = match attempt {
            AttemptEnd::Nothing => ("nothing was changed", &[]),
            AttemptEnd::Failed { why } => ("the fixer did not come to an end", std::slice::from_ref(why)),
            AttemptEnd::Flawed { flaws } => ("what was done does not count", flaws),
            AttemptEnd::Unsound { checks } => ("the checks did not pass", checks),
            AttemptEnd::Sound { checks, .. } => ("sound", checks),
        };
        let mut told: Vec<String> = lines.iter().take(MOST_LINES).map(|line| redactor.text(line)).collect();
        if lines.len() > MOST_LINES {
            told.push(format!("and {} more", lines.len() - MOST_LINES));
        }
        (end, told)
    };
    RepairRow {
        number: round.round,
        end: end.to_owned(),
        commit: round.commit.as_deref().map(short),
        findings: round.findings.clone(),
        attempts: round.attempts.iter().map(attempt).collect(),
    }
}

/// What a person decided, in words.
fn decided(record: &Record) -> Option<String> {
    let Event::Decided { choice, note, .. } = &record.event else { return None };
    let value: serde_json::Value = serde_json::from_str(choice).unwrap_or_default();
    let list = |name: &str| -> Vec<String> {
        let items = value.get(name).and_then(serde_json::Value::as_array);
        items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let mut parts = Vec::new();
    for (name, words) in [("fix", "repair"), ("decline", "leave as it is"), ("add", "add")] {
        let items = list(name);
        if !items.is_empty() {
            parts.push(format!("{words}: {}", items.join(", ")));
        }
    }
    parts.extend(value.get("end").and_then(serde_json::Value::as_str).map(|end| {
        match end {
            "approve" => "take what there is",
            "skip" => "leave the rest as it is",
            "abort" => "end it, and take nothing",
            other => other,
        }
        .to_owned()
    }));
    let told = if parts.is_empty() { choice.clone() } else { parts.join("; ") };
    let note = note.as_deref().filter(|note| !note.trim().is_empty());
    Some(note.map_or_else(|| told.clone(), |note| format!("{told}. Note: {note}")))
}
