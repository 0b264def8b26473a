//! From the parts of a session to what is told of its review.

use super::super::collect::Part;
use super::super::model::Integrity;
use super::findings::{groups, history};
use super::model::{Coverage, FileRow, Reviewed};
use super::panels::Panels;
use super::plan::{Plan, Work};
use super::repairs;
use crate::findings::{Findings, LEDGER_FILE, LedgerRead, MissingSeats, ReviewDecision, ReviewVerdict};
use crate::report::ci::SeenFile;
use crate::report::fix_record::FixRecord;
use crate::secrets::Redactor;
use crate::session::{Event, InnerKind, InnerPanel, Layout, Record, View, waiting};

/// The most files that are listed.
const MOST_FILES: usize = 1000;

/// The panels of a pipeline session, in the order in which they were opened.
pub(in crate::report::sheet) fn opened(records: &[Record]) -> Vec<InnerPanel> {
    let mut opened: Vec<InnerPanel> = Vec::new();
    for record in records {
        if let Event::PanelOpened { panel } = record.event
            && !opened.contains(&panel)
        {
            opened.push(panel);
        }
    }
    opened
}

/// What a report finds in the folder.
pub(in crate::report::sheet) struct Found<'a> {
    pub(in crate::report::sheet) view: &'a View,
    pub(in crate::report::sheet) records: &'a [Record],
    pub(in crate::report::sheet) parts: &'a [Part],
    pub(in crate::report::sheet) verdict: Option<&'a ReviewVerdict>,
    pub(in crate::report::sheet) integrity: &'a Integrity,
    pub(in crate::report::sheet) redactor: &'a Redactor,
}

/// The review or fix; `None` of another session.
pub(in crate::report::sheet) fn reviewed(found: &Found<'_>) -> Option<Reviewed> {
    let Found { view, records, parts, verdict, integrity, redactor } = *found;
    let Plan { review: work, fix: terms } = Plan::read(records)?;
    let fix = terms.as_ref().map(|terms| (FixRecord::of(records), terms));
    let panels = Panels::of(&view.layout, &opened(records), parts, integrity);
    let (findings, mut told, problem) = ledger(&view.layout, integrity);
    let (groups, left_out) = groups(&findings, &mut told, verdict, &panels, redactor);
    let decided = verdict.is_some();
    Some(Reviewed {
        decided,
        subject: redactor.text(&work.told),
        intent: work.intent.as_deref().map(|intent| redactor.text(intent)),
        rules: rules(&work, verdict),
        groups,
        left_out,
        problem,
        nothing: match verdict.map(|verdict| verdict.decision) {
            None => "Nothing is on record yet.",
            Some(ReviewDecision::NothingUsable) => {
                "There is none, for too little can be read: that is not the same as nothing found."
            }
            Some(ReviewDecision::Inconclusive) => {
                "Nothing was found by those who can be read, which are too few to say that there is nothing."
            }
            Some(_) => "Nothing was found.",
        },
        panels: panels.rows(fix.as_ref().map(|(fix, _)| fix)),
        reviewers: panels.reviewers(&findings, decided, redactor),
        judges: panels.judges(),
        coverage: coverage(&work.files, redactor),
        notes: work.notes.iter().map(|note| redactor.text(note)).collect(),
        repairs: fix.map(|(fix, terms)| repairs::of(&fix, terms, records, &findings, redactor)),
        question: waiting(records).map(|waits| redactor.text(&waits.question.text)),
        files: files(&view.layout, records),
    })
}

type Told = std::collections::BTreeMap<crate::findings::FindingId, Vec<String>>;

/// The findings, what happened to each, and why they are not shown although there may be some.
fn ledger(layout: &Layout, integrity: &Integrity) -> (Findings, Told, Option<String>) {
    let none = |why: Option<String>| (Findings::default(), Told::default(), why);
    let path = layout.ledger();
    if path.symlink_metadata().is_err() {
        return none(None);
    }
    if integrity.is_suspect(LEDGER_FILE) {
        return none(Some(format!("`{LEDGER_FILE}` is not as it was recorded, so no finding is shown")));
    }
    let read = crate::fs::read_plain(&path).map_err(|error| error.to_string()).and_then(|bytes| {
        let read = LedgerRead::parse(&path, &bytes).map_err(|error| error.to_string())?;
        match read.breaks.first() {
            Some(first) => Err(format!("`{LEDGER_FILE}` does not hold, so no finding is shown: {first}")),
            None => Ok((read.findings, history(&bytes), None)),
        }
    });
    read.unwrap_or_else(|why| none(Some(why)))
}

/// What the verdict rests on.
fn rules(work: &Work, verdict: Option<&ReviewVerdict>) -> Vec<(&'static str, String)> {
    let mut rules = Vec::new();
    if let Some(fail_on) = verdict.map(|verdict| verdict.fail_on).or(work.fail_on) {
        rules.push((
            "Bar",
            format!(
                "a sustained finding that is {} or worse, where the voters' consensus is {} or stronger, is in the way",
                fail_on.severity, fail_on.consensus
            ),
        ));
    }
    let strict = |missing| match missing {
        MissingSeats::Refused => ", and all are asked for (`--strict`)",
        MissingSeats::Tolerated => "",
    };
    match verdict.map(|verdict| verdict.seats) {
        Some(seats) => rules.push((
            "Quorum",
            format!(
                "{} of {} reviewers; {} gave a review that can be read{}",
                seats.quorum,
                seats.panel,
                seats.usable,
                strict(seats.missing)
            ),
        )),
        None => {
            rules.extend(work.quorum.map(|quorum| {
                ("Quorum", format!("{quorum} reviewers whose review can be read{}", strict(work.missing)))
            }))
        }
    }
    if let Some(verdict) = verdict {
        let ids = |ids: &[crate::findings::FindingId]| match ids {
            [] => "none".to_owned(),
            ids => ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        rules.push(("In the way", ids(&verdict.blocking)));
        rules.push(("Not settled", ids(&verdict.unsettled)));
    }
    rules
}

fn coverage(files: &[SeenFile], redactor: &Redactor) -> Option<Coverage> {
    if files.is_empty() {
        return None;
    }
    let row = |file: &SeenFile| {
        let old = file.old_path.as_ref().map(|old| format!("was `{}`", redactor.text(old)));
        let reason = file.omitted.map(|reason| reason.describe().to_owned());
        let note = file.note.as_ref().map(|note| redactor.text(note));
        let told: Vec<String> = [reason, old, note].into_iter().flatten().collect();
        FileRow {
            path: redactor.text(&file.path),
            change: file.change.as_str(),
            note: (!told.is_empty()).then(|| told.join("; ")),
        }
    };
    let (seen, omitted): (Vec<&SeenFile>, Vec<&SeenFile>) = files.iter().partition(|file| file.omitted.is_none());
    let word = if files.len() == 1 { "file was" } else { "files were" };
    // What was not looked at matters most.
    let shown_omitted = omitted.len().min(MOST_FILES);
    let shown_seen = seen.len().min(MOST_FILES - shown_omitted);
    Some(Coverage {
        line: format!("{} of {} {word} looked at", seen.len(), files.len()),
        omitted: omitted[..shown_omitted].iter().map(|file| row(file)).collect(),
        seen: seen[..shown_seen].iter().map(|file| row(file)).collect(),
        more: files.len() - shown_omitted - shown_seen,
    })
}

/// What people may want to read in the folder. What names who found what is told with the verdict only, for it is written
/// when each vote is over.
fn files(layout: &Layout, records: &[Record]) -> Vec<(String, &'static str)> {
    let mut files = vec![
        ("diff.patch".to_owned(), "the change that was reviewed"),
        ("design.md".to_owned(), "the text that was reviewed"),
        (Layout::REPORT.to_owned(), "how it went, in Markdown"),
        (LEDGER_FILE.to_owned(), "what became of each finding, line by line"),
    ];
    for panel in opened(records).into_iter().filter(|panel| panel.kind != InnerKind::Fix) {
        let file = format!("{}/{}", panel.folder(), Layout::CONSOLIDATED);
        files.push((file, "what this review found, with who found what"));
    }
    files.retain(|(file, _)| layout.root().join(file).is_file());
    files
}
