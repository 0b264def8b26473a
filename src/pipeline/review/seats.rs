//! The reviewers of a round: asked, asked once more with what is wrong with a reply that cannot be read, asked anew once,
//! and then given up.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;

use super::round::Surroundings;
use super::talks::Spoken;
use super::texts::Texts;
use crate::engine::{
    Asking, Chance, Panel, Question, Reply, SNAPSHOT_RULE, ask_in, record, record_ballot, show_last, stopped_state,
};
use crate::error::{Error, Result};
use crate::findings::{BadFindings, FindingsRead, findings_schema, read_findings_below};
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{BallotForm, Nonce};
use crate::runner::{Checks, Purpose, SlotJob, Workspace, run_panel};
use crate::session::slot::{Reason, SlotState};
use crate::session::{Admission, Event, NewTurn, PanelFolder, Phase, SessionState, Turn};

/// How one reviewer's turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeatEnd {
    /// Its findings could be read.
    Read {
        /// What they are.
        read: FindingsRead,
        /// The further turn that it took, where it took one.
        by: Option<Turn>,
    },
    /// It replied, and no findings could be read from any of its replies.
    Unreadable {
        /// What was wrong with the last one.
        why: String,
    },
    /// It did not complete.
    Failed {
        /// The state.
        state: SlotState,
        /// Why.
        reason: Option<Reason>,
        /// In words, without names.
        detail: String,
    },
}

impl SeatEnd {
    /// What it found; `None` where nothing can be read.
    #[must_use]
    pub const fn read(&self) -> Option<&FindingsRead> {
        match self {
            Self::Read { read, .. } => Some(read),
            Self::Unreadable { .. } | Self::Failed { .. } => None,
        }
    }
}

/// A reply and what was read in it.
type Findings = std::result::Result<FindingsRead, BadFindings>;

/// Where programs see the repository, in paths that findings may name.
fn roots(folder: &PanelFolder) -> Vec<String> {
    match folder.records().first().map(|record| &record.event) {
        Some(Event::Created { rules, .. }) => rules.get(SNAPSHOT_RULE).cloned().into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The rule that says so in the record of a panel that sees `workspace`.
pub(super) fn snapshot_rule(workspace: Option<&Arc<Workspace>>) -> BTreeMap<String, String> {
    let folder = workspace.and_then(|workspace| workspace.folder().canonicalize().ok());
    folder.into_iter().map(|folder| (SNAPSHOT_RULE.to_owned(), folder.display().to_string())).collect()
}

/// A reviewer that is asked in a further turn.
struct Again<'a> {
    slot: SlotId,
    texts: &'a Texts<'a>,
    /// Its reply and what is wrong with it; `None` where it is asked anew.
    mend: Option<(Vec<u8>, BadFindings, Nonce)>,
    roots: &'a [String],
}

impl Question for Again<'_> {
    type Ballot = Findings;

    fn asked(&self) -> SlotId {
        self.slot
    }

    fn write(&self, _: BallotForm, out: &mut impl Write) -> Result<()> {
        let text = match &self.mend {
            Some((reply, bad, nonce)) => self.texts.repair(Some(reply), bad, nonce)?,
            None => self.texts.input.to_owned(),
        };
        out.write_all(text.as_bytes())
            .map_err(|source| Error::io(format!("cannot write the prompt of {}", self.slot), source))
    }

    fn purpose(&self) -> Purpose {
        Purpose::Review { schema: findings_schema() }
    }

    fn read(&self, reply: &str) -> Findings {
        let roots: Vec<&str> = self.roots.iter().map(String::as_str).collect();
        read_findings_below(reply, &roots)
    }

    fn read_event(slot: SlotId, response: Sha256Hash, found: &Findings) -> Event {
        read_event(slot, response, found)
    }

    const INSTEAD: &'static str = "`team review` reviews anew, in a session of its own";
}

fn read_event(slot: SlotId, response: Sha256Hash, found: &Findings) -> Event {
    let findings = found.as_ref().ok().map(|read| u32::try_from(read.findings.len()).unwrap_or(u32::MAX));
    Event::FindingsRead { slot, response, findings }
}

/// Asks the reviewers of `folder` whose turn has not come, reads what they say, and asks those again whose findings
/// cannot be read. What is on record already is not done again.
pub(super) async fn ask_reviewers(
    folder: &mut PanelFolder,
    texts: &Texts<'_>,
    spoken: &mut Spoken<'_>,
    around: &mut Surroundings<'_>,
    failed: bool,
    admission: Admission,
) -> Result<BTreeMap<SlotId, SeatEnd>> {
    if admission == Admission::Open {
        first_turn(folder, spoken, around).await?;
    }
    let roots = roots(folder);
    let mut seats = BTreeMap::new();
    let mut bad: BTreeMap<SlotId, (Vec<u8>, BadFindings)> = BTreeMap::new();
    let status = folder.status().clone();
    for (slot, entry) in &status.models {
        let Some(reply) = entry.read_answer(folder.layout(), *slot)? else {
            let error = entry.error.as_ref();
            let detail = error.map(|error| error.detail.clone()).unwrap_or_default();
            seats
                .insert(*slot, SeatEnd::Failed { state: entry.state, reason: error.map(|error| error.reason), detail });
            continue;
        };
        let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
        let found = read_findings_below(&String::from_utf8_lossy(&reply), &roots);
        record_ballot(folder, read_event(*slot, Sha256Hash::of(&reply), &found), &mut *around.observer)?;
        match found {
            Ok(read) => drop(seats.insert(*slot, SeatEnd::Read { read, by: None })),
            Err(error) => drop(bad.insert(*slot, (reply, error))),
        }
    }
    folder.settle()?;
    for turn in [Turn::Repair, Turn::Fresh] {
        if bad.is_empty() {
            break;
        }
        match admission {
            Admission::Open => {
                let further = Further { turn, texts, roots: &roots, failed };
                further.take(folder, &mut bad, &mut seats, spoken, around).await?;
            }
            Admission::Closed => read_turn(folder, turn, &roots, &mut bad, &mut seats)?,
        }
    }
    let given_up = bad.into_iter().map(|(slot, (_, error))| (slot, SeatEnd::Unreadable { why: error.to_string() }));
    seats.extend(given_up);
    Ok(seats)
}

async fn first_turn(folder: &mut PanelFolder, spoken: &mut Spoken<'_>, around: &mut Surroundings<'_>) -> Result<()> {
    let input = folder.layout().input();
    // What an owner that died did not take in.
    spoken.heard(folder, &input)?;
    let manifest = folder.manifest().clone();
    let mut jobs = Vec::new();
    for (slot, member) in &manifest.models {
        if folder.status().models.get(slot).is_none_or(|entry| entry.state != SlotState::Pending) {
            continue;
        }
        let (prompt, conversation) = spoken.first(folder, *slot, input.clone())?;
        let purpose = Purpose::Review { schema: findings_schema() };
        jobs.push(SlotJob { id: *slot, model: member.resolved.clone(), prompt, purpose, conversation });
    }
    if jobs.is_empty() {
        return Ok(());
    }
    let panel = Panel { session: &around.session, manifest: &manifest, workspace: around.workspace.clone() };
    let shared = around.services.shared(panel, around.terms.limits, Checks::default());
    record(folder, Event::PhaseStarted { phase: Phase::Review }, &mut *around.observer)?;
    let at_once = around.services.at_once();
    run_panel(folder, jobs, shared, at_once, &mut *around.control, &mut *around.observer).await?;
    spoken.heard(folder, &input)
}

/// Reads what was said in a further turn, and asks nobody.
fn read_turn(
    folder: &PanelFolder,
    turn: Turn,
    roots: &[String],
    bad: &mut BTreeMap<SlotId, (Vec<u8>, BadFindings)>,
    seats: &mut BTreeMap<SlotId, SeatEnd>,
) -> Result<()> {
    let Some(inside) = folder.enter_turn(turn)? else { return Ok(()) };
    let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
    for (slot, entry) in &inside.status().models {
        let Some(reply) = entry.read_answer(inside.layout(), *slot)? else { continue };
        take(*slot, turn, read_findings_below(&String::from_utf8_lossy(&reply), &roots), bad, seats);
    }
    Ok(())
}

/// Takes in what `slot` said in a further turn.
fn take(
    slot: SlotId,
    turn: Turn,
    found: Findings,
    bad: &mut BTreeMap<SlotId, (Vec<u8>, BadFindings)>,
    seats: &mut BTreeMap<SlotId, SeatEnd>,
) {
    match found {
        Ok(read) => {
            bad.remove(&slot);
            seats.insert(slot, SeatEnd::Read { read, by: Some(turn) });
        }
        Err(error) => {
            if let Some(entry) = bad.get_mut(&slot) {
                entry.1 = error;
            }
        }
    }
}

/// A further turn of reviewers.
struct Further<'a> {
    turn: Turn,
    texts: &'a Texts<'a>,
    roots: &'a [String],
    failed: bool,
}

impl Further<'_> {
    /// Asks those in `bad` again; who can be read afterwards is moved to `seats`.
    async fn take(
        &self,
        folder: &mut PanelFolder,
        bad: &mut BTreeMap<SlotId, (Vec<u8>, BadFindings)>,
        seats: &mut BTreeMap<SlotId, SeatEnd>,
        spoken: &mut Spoken<'_>,
        around: &mut Surroundings<'_>,
    ) -> Result<()> {
        let Self { turn, texts, roots, failed } = *self;
        let opened = folder.records().iter().find_map(|record| match &record.event {
            Event::TurnOpened { turn: opened, judges } if *opened == turn => Some(judges.clone()),
            _ => None,
        });
        if opened.is_none() {
            if around.control.stop().is_some() {
                return Ok(());
            }
            if turn == Turn::Fresh {
                let slots: Vec<SlotId> = bad.keys().copied().collect();
                spoken.reset(folder, &slots)?;
            }
        }
        let slots = opened.unwrap_or_else(|| bad.keys().copied().collect());
        let chance = Chance::of(folder.manifest());
        let mut continuing = BTreeMap::new();
        let mut questions: Vec<Again<'_>> = Vec::new();
        for slot in &slots {
            let Some((reply, error)) = bad.get(slot) else { continue };
            let nonce = || Nonce::draw(&mut chance.rng(&format!("repair of {slot}")));
            let mend = (turn == Turn::Repair).then(|| (reply.clone(), error.clone(), nonce()));
            if let Some((_, error, nonce)) = &mend {
                continuing.insert(*slot, texts.repair(None, error, nonce)?);
            }
            questions.push(Again { slot: *slot, texts, mend, roots });
        }
        let path = folder.inner().map(|panel| panel.folder()).unwrap_or_default();
        let new = NewTurn {
            kind: around.kind,
            round: None,
            turn,
            judges: &slots,
            isolation: around.services.isolation(),
            prompts: texts.reviewer_hashes(),
            failed,
        };
        let mut opened = folder.open_turn(new, Timestamp::now())?;
        show_last(folder, &mut *around.observer);
        around.observer.enter(&format!("{path}/{}", turn.folder()));
        show_last(&opened, &mut *around.observer);
        let mut asking = Asking {
            services: around.services,
            session: around.session.clone(),
            limits: around.terms.limits,
            workspace: around.workspace.clone(),
            control: &mut *around.control,
            observer: &mut *around.observer,
        };
        let mut talks = spoken.again(folder, &slots, continuing)?;
        let replies = ask_in(&mut opened, &questions, &mut talks, &mut asking).await?;
        drop(questions);
        let is_stopped = asking.control.stop().is_some();
        for (slot, Reply { ballot, state }) in replies {
            match ballot {
                Some((_, found)) => take(slot, turn, found, bad, seats),
                // A person does not want it asked any more.
                None if state == SlotState::Cancelled && !is_stopped => {
                    bad.remove(&slot);
                    let detail = "it was cancelled when it was asked once more".to_owned();
                    seats.insert(slot, SeatEnd::Failed { state, reason: Some(Reason::Cancelled), detail });
                }
                // One that did not complete leaves what was said before, which cannot be read.
                None => {}
            }
        }
        let state = around.control.stop().map_or(SessionState::Completed, stopped_state);
        let status = opened.status().clone();
        let last = folder.close_turn(turn, opened, state, Timestamp::now())?;
        around.observer.event(&last, &status);
        around.observer.enter(&path);
        show_last(folder, &mut *around.observer);
        Ok(())
    }
}
