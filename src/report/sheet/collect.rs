//! From a session's folder to its sheet.

use jiff::Timestamp;

use super::model::{Integrity, Sheet, Side};
use super::reading::Reader;
use super::{answers, ballots, failures, headline, review, task_votes, timeline};
use crate::error::Result;
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::Votes;
use crate::model::Target;
use crate::report::format::seconds;
use crate::report::picture::seconds_between;
use crate::report::published::{Published, published};
use crate::secrets::Redactor;
use crate::session::{
    Event, History, InnerKind, InnerPanel, Layout, Manifest, Member, Record, Round, SessionKind, Status, Turn, View,
    usage_by_slot,
};
use crate::verdict::Names;

/// The most of all texts together that a report holds, in bytes.
const ALL_TEXTS: u64 = 32 << 20;

/// The most of the task that it holds.
const LONGEST_TASK: u64 = 256 << 10;

/// One panel of the session in one turn: its slots, or judges of its round.
pub(super) struct Part {
    pub(super) side: Side,
    /// Which review or round of repairs it is of, where there are several.
    pub(super) label: Option<String>,
    /// Of a further turn its name.
    pub(super) turn: Option<&'static str>,
    /// The folder of the panel of a pipeline session that it is, or is in.
    pub(super) inner: Option<String>,
    /// Where its files are, from the session's folder: nothing, or with a slash at its end.
    pub(super) prefix: String,
    pub(super) status: Status,
    pub(super) records: Vec<Record>,
    /// Who is who in it, once the vote is over.
    pub(super) manifest: Option<Manifest>,
}

impl Sheet {
    /// All of the session in `view` at `now`, of whose folder a check found `integrity`; `redactor` takes secrets out of
    /// what models wrote.
    ///
    /// # Errors
    /// The session's manifest is needed for the names and cannot be read.
    pub fn collect(view: &View, integrity: Integrity, redactor: &Redactor, now: Timestamp) -> Result<Self> {
        let layout = &view.layout;
        let records = History::read(&layout.events()).map(|history| history.records).unwrap_or_default();
        let published = published(layout, &records);
        let (verdict, task_verdict, review_verdict) = match &published {
            Published::Verdict(verdict) => (Some(&**verdict), None, None),
            Published::Task(verdict) => (None, Some(&**verdict), None),
            Published::Review(verdict) => (None, None, Some(&**verdict)),
            Published::None | Published::Changed | Published::Newer(_) => (None, None, None),
        };
        let is_named = verdict.is_some() || task_verdict.is_some() || review_verdict.is_some();
        let round = verdict.map(|verdict| Round(verdict.round)).or_else(|| layout.rounds().pop());
        let mut parts = vec![Part {
            side: Side::Slot,
            label: None,
            turn: None,
            inner: None,
            prefix: String::new(),
            status: view.status.clone(),
            records,
            manifest: None,
        }];
        parts.extend(part(view, Side::Slot, Some("asked again"), format!("{}/", Turn::Repair.folder())));
        parts.extend(round.into_iter().flat_map(|round| judges(view, round)));
        let inner = inner(view, &review::opened(&parts[0].records));
        parts.extend(inner);
        if is_named {
            for part in &mut parts {
                let folder = Layout::new(layout.root().join(&part.prefix));
                let manifest = Manifest::read(&folder.manifest())?;
                // The record of a further turn does not tell them, for it has no verdict of its own.
                for (slot, usage) in usage_by_slot(&manifest, &part.records) {
                    if let Some(entry) = part.status.models.get_mut(&slot) {
                        entry.usage = Some(usage);
                    }
                }
                part.manifest = Some(manifest);
            }
        }
        let names = names(&parts);
        let votes = verdict.and_then(|verdict| votes(layout, Round(verdict.round)));
        let decided = verdict.map(|verdict| ballots::decided(verdict, votes.as_ref(), &names, redactor));
        let voted = task_verdict.map(|verdict| task_votes::voted(verdict, &names, redactor));
        let headline = match &published {
            Published::Verdict(verdict) => {
                headline::of_verdict(verdict, &names, layout.rounds().last() > round.as_ref())
            }
            Published::Task(verdict) => match gate_notes(&parts[0].records, redactor) {
                Some(notes) => headline::of_gate(verdict, notes),
                None => headline::of_task(verdict),
            },
            Published::Review(verdict) => match gate_notes(&parts[0].records, redactor) {
                Some(notes) => headline::of_reviewing_gate(verdict, notes),
                None => headline::of_review(verdict),
            },
            Published::Changed => headline::of_changed(),
            Published::Newer(version) => headline::of_newer(*version),
            Published::None => headline::of_open(view),
        };
        let known = is_named && !integrity.suspects.contains("session-meta.json");
        let money = is_named.then(|| view.meta.money.clone().filter(|_| known).unwrap_or_default());
        let isolation = parts[0].records.first().and_then(|record| match &record.event {
            Event::Created { isolation, .. } => Some(isolation.clone()),
            _ => None,
        });
        let reviewed = review::reviewed(&review::Found {
            view,
            records: &parts[0].records,
            parts: &parts,
            verdict: review_verdict,
            integrity: &integrity,
            redactor,
        });
        let headline = match &reviewed {
            Some(reviewed) => headline::with_review(headline, view, reviewed),
            None => headline,
        };
        let mut reader = Reader::new(layout.root(), &integrity, redactor, ALL_TEXTS);
        let task = ["task.md", "input.md"].into_iter().find(|file| layout.root().join(file).is_file());
        let task = task.and_then(|file| reader.head(file, LONGEST_TASK).ok());
        let failures = failures::of(&parts, &mut reader);
        let answers = answers::of(&view.status, decided.as_ref(), voted.as_ref(), &names, &mut reader);
        let until = view.status.completed_at.unwrap_or(now);
        Ok(Self {
            session: view.meta.session_id.clone(),
            target: view.meta.target.clone(),
            state: view.state().as_str(),
            owner: view.owner.clone(),
            started: stamp(view.meta.started_at),
            ended: view.status.completed_at.map(stamp),
            took: seconds(seconds_between(view.meta.started_at, until)),
            made: stamp(now),
            tool: format!("team {}", env!("CARGO_PKG_VERSION")),
            task,
            headline,
            answers,
            timeline: timeline::of(&parts, view.meta.started_at, now, money.as_ref()),
            failures,
            isolation,
            decided,
            voted,
            reviewed,
            integrity,
        })
    }
}

/// What a gate told of the change before anybody was asked, and what it saw when all had answered; `None` of what is no
/// gate.
fn gate_notes(records: &[Record], redactor: &Redactor) -> Option<Vec<String>> {
    let Event::Created { kind: SessionKind::Gate, plan, .. } = &records.first()?.event else { return None };
    let notes = plan.as_ref().and_then(|plan| plan.get("review").unwrap_or(plan).get("notes")?.as_array());
    let before = notes.into_iter().flatten().filter_map(|note| note.as_str());
    let after = records.iter().filter_map(|record| match &record.event {
        Event::Remarked { text } => Some(text.as_str()),
        _ => None,
    });
    // What makes the verdict one about something else comes first.
    Some(after.chain(before).map(|note| redactor.text(note)).collect())
}

/// To the second, in UTC.
pub(super) fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The judges of a round, then those of its further turns.
fn judges(view: &View, round: Round) -> Vec<Part> {
    let second = Turn::SecondPass.folder();
    let repair = Turn::Repair.folder();
    let places = [
        (None, String::new()),
        (Some("asked again"), format!("{repair}/")),
        (Some("second pass"), format!("{second}/")),
        (Some("second pass, asked again"), format!("{second}/{repair}/")),
    ];
    let place = |(turn, inside): (Option<&'static str>, String)| {
        part(view, Side::Judge, turn, format!("{}/{inside}", round.folder()))
    };
    places.into_iter().filter_map(place).collect()
}

/// The panels inside of a pipeline session, each with its further turns and its judges.
fn inner(view: &View, opened: &[InnerPanel]) -> Vec<Part> {
    let reviews = opened.iter().filter(|panel| panel.kind != InnerKind::Fix).count();
    let mut parts = Vec::new();
    for panel in opened {
        let folder = panel.folder();
        let (side, label) = match panel.kind {
            InnerKind::Fix => (Side::Fixer, Some(format!("round {}", panel.number))),
            InnerKind::PlanReview | InnerKind::ImplReview => {
                (Side::Reviewer, (reviews > 1).then(|| format!("review {}", panel.number)))
            }
        };
        let judging = Round(1).folder();
        let places = [
            (side, None, String::new()),
            (side, Some("asked again"), format!("{}/", Turn::Repair.folder())),
            (side, Some("asked anew"), format!("{}/", Turn::Fresh.folder())),
            (Side::Judge, None, format!("{judging}/")),
            (Side::Judge, Some("asked again"), format!("{judging}/{}/", Turn::Repair.folder())),
        ];
        let place = |(side, turn, inside): (Side, Option<&'static str>, String)| {
            let found = part(view, side, turn, format!("{folder}/{inside}"))?;
            Some(Part { label: label.clone(), inner: Some(folder.clone()), ..found })
        };
        parts.extend(places.into_iter().filter_map(place));
    }
    parts
}

/// The panel in the folder `prefix`, where there is one.
fn part(view: &View, side: Side, turn: Option<&'static str>, prefix: String) -> Option<Part> {
    let folder = Layout::new(view.layout.root().join(&prefix));
    let records = History::read(&folder.events()).map(|history| history.records).unwrap_or_default();
    let folded = (!records.is_empty()).then(|| Status::fold(view.meta.session_id.clone(), &records).ok()).flatten();
    let status = folded.or_else(|| Status::read(&folder.status()).ok())?;
    let status = if view.owner.is_none() { status.without_owner() } else { status };
    Some(Part { side, label: None, turn, inner: None, prefix, status, records, manifest: None })
}

/// The name that the user gave it; a recording is not passed off as a live model.
fn shown_name(member: &Member) -> String {
    match member.resolved.target {
        Target::Replay { .. } => format!("{} (a recording)", member.model),
        Target::Process { .. } | Target::Http { .. } | Target::Local { .. } => member.model.clone(),
    }
}

impl Part {
    /// The name of one of its seats, once the vote is over.
    pub(super) fn name_of(&self, id: SlotId) -> Option<String> {
        self.manifest.as_ref()?.member(id).map(shown_name)
    }

    /// Its folder, from the session's.
    pub(super) fn folder(&self) -> &str {
        self.prefix.trim_end_matches('/')
    }

    /// Which review or round it is of, and which turn, in words.
    pub(super) fn turn_told(&self) -> Option<String> {
        match (&self.label, self.turn) {
            (Some(label), Some(turn)) => Some(format!("{label}, {turn}")),
            (Some(label), None) => Some(label.clone()),
            (None, turn) => turn.map(str::to_owned),
        }
    }
}

/// Nobody's, until the manifests were read.
fn names(parts: &[Part]) -> Names {
    let mut names = Names::default();
    for part in parts.iter().filter(|part| part.inner.is_none()) {
        let models = part.manifest.iter().flat_map(|manifest| &manifest.models);
        let models = models.map(|(id, member)| (*id, shown_name(member)));
        match part.side {
            Side::Slot => names.slots.extend(models),
            Side::Judge => names.judges.extend(models),
            // Each panel inside of a pipeline session has ids of its own.
            Side::Reviewer | Side::Fixer => {}
        }
    }
    names
}

/// The ballots of a round, when they are those on record.
fn votes(layout: &Layout, round: Round) -> Option<Votes> {
    let folder = layout.round(round);
    let records = History::read(&folder.events()).ok()?.records;
    let recorded = records.iter().rev().find_map(|record| match &record.event {
        Event::Verdict { votes, .. } => *votes,
        _ => None,
    });
    let bytes = crate::fs::read_plain(folder.votes()).ok()?;
    (recorded == Some(Sha256Hash::of(&bytes))).then(|| Votes::from_json(&bytes).ok()).flatten()
}
