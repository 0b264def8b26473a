//! One turn of the fixer, from its prompt to a commit that nothing names yet or the reason why there is none.

use std::path::Path;

use jiff::Timestamp;

use super::check::{CheckBench, CheckResult};
use super::inspect::{Inspected, Inspection};
use super::patch_reply::patch_in;
use super::place::Place;
use super::request::FixWork;
use super::scope::Scope;
use super::store::Store;
use crate::config::{ResolvedModel, SessionReuse, Target};
use crate::engine::{Panel, record, show_last, stopped_state};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::findings::{EarlierDeclines, FindingId, Findings, FixForm, FixPrompt, ToFix, fix_prompt};
use crate::fs;
use crate::git::CommitId;
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::Nonce;
use crate::pipeline::review::{Surroundings, declined, unusable};
use crate::pipeline::roles::{self, NextTurn};
use crate::prompts::{PromptName, Prompts};
use crate::runner::{Checks, Purpose, SlotJob, run_panel};
use crate::secrets::Redactor;
use crate::session::slot::{Reason, SlotState};
use crate::session::{
    Admission, AttemptEnd, Event, NewInner, NewTurn, PanelFolder, Participant, Phase, Role, Session, SessionState, Turn,
};

/// The name of the list of the fixer's files, and of a patch's.
const LIST: &str = "fixer";

/// The most bytes of files that a model without hands is shown.
pub(super) const SHOWN: usize = 192 * 1024;

/// A round of repairs.
pub(super) struct FixTurn<'a> {
    pub(super) work: &'a FixWork,
    pub(super) intent: Option<&'a str>,
    pub(super) prompts: &'a Prompts,
    pub(super) store: &'a Store,
    pub(super) place: &'a Place,
    pub(super) fixer: &'a ResolvedModel,
    pub(super) round: u32,
    /// The commit that it begins at.
    pub(super) base: &'a CommitId,
    /// What is to be mended.
    pub(super) selected: &'a [FindingId],
    /// All findings.
    pub(super) findings: &'a Findings,
    /// What people declined in earlier sessions.
    pub(super) earlier: &'a EarlierDeclines,
    pub(super) scope: &'a Scope,
    pub(super) redactor: &'a Redactor,
    /// Whether it goes on with its conversation; absent in a session whose record knows of none.
    pub(super) reuse: Option<SessionReuse>,
    /// Whether one that ended with an error of its own is asked again.
    pub(super) failed: bool,
}

/// How a round went on.
pub(super) enum Repaired {
    /// It was stopped from outside.
    Stopped,
    /// It came to this.
    Ended(AttemptEnd),
    /// A person cancelled the fixer, so it is not asked again.
    Cancelled,
}

impl FixTurn<'_> {
    /// The turns that a round has: the second one is told what was wrong with the first.
    pub(super) const ATTEMPTS: u32 = 2;

    fn works_on_files(&self) -> bool {
        matches!(self.fixer.target, Target::Process { .. })
    }

    /// What the fixer is asked.
    async fn prompt(&self, trouble: Option<&str>, around: &mut Surroundings<'_>) -> Result<String> {
        let record_of = |id: &FindingId| self.findings.get(*id);
        let to_fix: Vec<ToFix<'_>> = self
            .selected
            .iter()
            .filter_map(record_of)
            .map(|record| ToFix {
                id: record.id,
                finding: &record.finding,
                decision: record.note.as_ref().map(|note| note.as_str()),
            })
            .collect();
        let declined = declined(self.findings, self.earlier, u32::MAX);
        let checks: Vec<String> = self.work.checks().into_iter().map(|(_, command)| command.join(" ")).collect();
        let (mut files, more) = self.scope.listed(200);
        files.extend(self.work.scope.iter().cloned());
        if more > 0 {
            files.push(format!("and {more} more that are reviewed"));
        }
        let contents = if self.works_on_files() { Vec::new() } else { self.contents().await? };
        let form = if self.works_on_files() { FixForm::Worktree(&checks) } else { FixForm::Patch(&contents) };
        let ask =
            FixPrompt { findings: &to_fix, intent: self.intent, declined: &declined, files: &files, trouble, form };
        let nonce = Nonce::draw(&mut &mut *around.rng);
        fix_prompt(self.prompts, &ask, &nonce).map_err(|error| unusable(&error))
    }

    /// The files that the findings are in, then the others that may change, as far as there is room.
    async fn contents(&self) -> Result<Vec<(String, String)>> {
        let git = self.store.git();
        let named = self.selected.iter().filter_map(|id| self.findings.get(*id)?.finding.file.clone());
        let (others, _) = self.scope.listed(usize::MAX);
        let mut contents: Vec<(String, String)> = Vec::new();
        let mut room = SHOWN;
        for path in named.chain(others) {
            if contents.iter().any(|(known, _)| *known == path) {
                continue;
            }
            let repo_path = crate::git::RepoPath::new(path.as_bytes());
            let reading = "read a file of the commit";
            let entry = git.entry_at(self.base, &repo_path).await.map_err(super::store::failed(reading))?;
            let Some(entry) = entry.filter(|entry| entry.kind == crate::git::EntryKind::File) else { continue };
            let Ok(bytes) = git.content(&entry, room as u64).await else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            if text.contains('\0') || self.redactor.text(&text) != text {
                continue;
            }
            room = room.saturating_sub(text.len());
            contents.push((path, text));
        }
        Ok(contents)
    }

    /// Opens the panel of the round, or goes on with it.
    pub(super) async fn open(&self, session: &mut Session, around: &mut Surroundings<'_>) -> Result<PanelFolder> {
        let panel = Place::panel(self.round);
        let input = if session.panel().has_inner(panel)? {
            crate::fs::read_plain_text(session.layout().inner(panel).input())?
        } else {
            self.prompt(None, around).await?
        };
        let new = NewInner {
            kind: around.kind,
            panel,
            input: input.as_bytes(),
            models: vec![self.fixer.clone()],
            isolation: around.services.isolation(),
            prompts: self.hashes(),
            rules: std::collections::BTreeMap::new(),
            plan: Some(serde_json::json!({ "findings": self.selected })),
            failed: self.failed,
            admission: Admission::Open,
        };
        let folder = session.panel_mut().open_inner(new, Timestamp::now(), &mut &mut *around.rng)?;
        show_last(session.panel(), &mut *around.observer);
        around.observer.enter(&panel.folder());
        show_last(&folder, &mut *around.observer);
        Ok(folder)
    }

    /// Does attempt `attempt` of the round, or what is left of it. `trouble` is what went wrong with the one before.
    pub(super) async fn attempt(
        &self,
        session: &mut Session,
        folder: &mut PanelFolder,
        attempt: u32,
        trouble: Option<&str>,
        around: &mut Surroundings<'_>,
    ) -> Result<Repaired> {
        let panel = Place::panel(self.round);
        let slots: Vec<SlotId> = folder.manifest().models.keys().copied().collect();
        let ended = if attempt == 1 {
            let prompt = folder.layout().input();
            self.ask(session, folder, &slots, &prompt, around).await?
        } else {
            let new = NewTurn {
                kind: around.kind,
                round: None,
                turn: Turn::Repair,
                judges: &slots,
                isolation: around.services.isolation(),
                prompts: self.hashes(),
                failed: self.failed,
            };
            let mut turn = folder.open_turn(new, Timestamp::now())?;
            show_last(folder, &mut *around.observer);
            around.observer.enter(&format!("{}/{}", panel.folder(), Turn::Repair.folder()));
            show_last(&turn, &mut *around.observer);
            let prompt = self.prompt_again(&mut turn, &slots, trouble, around).await?;
            let ended = self.ask(session, &mut turn, &slots, &prompt, around).await?;
            let state = around.control.stop().map_or(SessionState::Completed, stopped_state);
            let status = turn.status().clone();
            let last = folder.close_turn(Turn::Repair, turn, state, Timestamp::now())?;
            around.observer.event(&last, &status);
            around.observer.enter(&panel.folder());
            show_last(folder, &mut *around.observer);
            ended
        };
        fault::reach(Point::FixTurnOver);
        let reply = match ended {
            Asked::Stopped => return Ok(Repaired::Stopped),
            Asked::Cancelled => {
                folder.settle()?;
                return Ok(Repaired::Cancelled);
            }
            Asked::Failed(why) => {
                folder.settle()?;
                return Ok(Repaired::Ended(AttemptEnd::Failed { why }));
            }
            Asked::Replied(reply) => reply,
        };
        folder.settle()?;
        self.look_at(&reply, around).await
    }

    fn hashes(&self) -> std::collections::BTreeMap<String, Sha256Hash> {
        let hashes = self.prompts.hashes_of(&[PromptName::Fix]);
        hashes.into_iter().map(|(name, hash)| (name.to_owned(), hash)).collect()
    }

    /// The prompt of a further turn: that on record, or a new one.
    async fn prompt_again(
        &self,
        turn: &mut PanelFolder,
        slots: &[SlotId],
        trouble: Option<&str>,
        around: &mut Surroundings<'_>,
    ) -> Result<std::path::PathBuf> {
        let Some(slot) = slots.first().copied() else {
            return Err(Error::internal("a round of repairs without a fixer"));
        };
        let path = turn.layout().prompt(slot);
        let is_recorded = turn.records().iter().any(|record| matches!(record.event, Event::PromptWritten { .. }));
        if !is_recorded {
            let text = self.prompt(trouble, around).await?;
            fs::replace(&path, text.as_bytes())?;
            fault::reach(Point::PromptWritten);
            let sha256 = Sha256Hash::of(text.as_bytes());
            record(turn, Event::PromptWritten { judge: slot, sha256 }, &mut *around.observer)?;
            fault::reach(Point::PromptRecorded);
        }
        Ok(path)
    }

    /// Asks in `folder`, unless the turn is over.
    async fn ask(
        &self,
        session: &mut Session,
        folder: &mut PanelFolder,
        slots: &[SlotId],
        prompt: &Path,
        around: &mut Surroundings<'_>,
    ) -> Result<Asked> {
        let Some(slot) = slots.first().copied() else { return Ok(Asked::Failed("nobody repairs".to_owned())) };
        let state = |folder: &PanelFolder| folder.status().models.get(&slot).map(|entry| entry.state);
        if state(folder) == Some(SlotState::Pending) {
            let worktree = self.place.worktree();
            if self.works_on_files() {
                self.keep_left().await?;
                self.store.fresh(&worktree, LIST, self.base).await?;
                self.store.lend(&worktree, self.base).await?;
                fault::reach(Point::FixFolder);
            }
            let (prompt, conversation) = match self.reuse {
                Some(reuse) => {
                    let of = fixer_of(session)?;
                    let next = NextTurn { of, panel: folder.layout(), slot, prompt, continuing: None };
                    let roles::Turn { prompt, conversation } = roles::next(session, next, reuse, Timestamp::now())?;
                    (prompt, conversation)
                }
                None => (prompt.to_owned(), None),
            };
            let purpose = Purpose::Fix { folder: worktree };
            let job = SlotJob { id: slot, model: self.fixer.clone(), prompt, purpose, conversation };
            let manifest = folder.manifest().clone();
            let panel = Panel { session: &around.session, manifest: &manifest, workspace: None };
            let shared = around.services.shared(panel, around.terms.limits, Checks::default());
            let at_once = around.services.at_once();
            let phase = Phase::Fix(self.round);
            if folder.status().phase != phase {
                record(folder, Event::PhaseStarted { phase }, &mut *around.observer)?;
            }
            run_panel(folder, vec![job], shared, at_once, &mut *around.control, &mut *around.observer).await?;
        }
        if self.reuse.is_some() {
            roles::heard(session, fixer_of(session)?, folder, slot, prompt, Timestamp::now())?;
        }
        let Some(entry) = folder.status().models.get(&slot) else {
            return Ok(Asked::Failed("nobody repairs".to_owned()));
        };
        if let Some(reply) = entry.read_answer(folder.layout(), slot)? {
            return Ok(Asked::Replied(reply));
        }
        if around.control.stop().is_some() || matches!(entry.state, SlotState::Pending | SlotState::Running) {
            return Ok(Asked::Stopped);
        }
        if entry.error.as_ref().is_some_and(|error| error.reason == Reason::Cancelled) {
            return Ok(Asked::Cancelled);
        }
        let detail = entry.error.as_ref().map(|error| error.detail.clone()).unwrap_or_default();
        Ok(Asked::Failed(format!("the fixer ended with {:?}: {detail}", entry.state)))
    }

    /// What an attempt left in the folder that came to nothing is put aside, never thrown away.
    pub(super) async fn keep_left(&self) -> Result<()> {
        put_aside(self.store, self.place, self.round, self.base).await
    }

    /// Looks at what was done, and has it checked.
    async fn look_at(&self, reply: &[u8], around: &mut Surroundings<'_>) -> Result<Repaired> {
        let seconds = Timestamp::now().as_second();
        let inspection =
            Inspection { store: self.store, base: self.base, scope: self.scope, redactor: self.redactor, seconds };
        let inspected = if self.works_on_files() {
            inspection.folder(&self.place.worktree(), LIST).await?
        } else {
            match patch_in(&String::from_utf8_lossy(reply)) {
                Ok(patch) => inspection.patch(&patch, "patch").await?,
                Err(why) => return Ok(Repaired::Ended(AttemptEnd::Flawed { flaws: vec![why.to_string()] })),
            }
        };
        let tree = match inspected {
            Inspected::Nothing => return Ok(Repaired::Ended(AttemptEnd::Nothing)),
            Inspected::Flawed(flaws) => {
                let flaws = flaws.iter().map(ToString::to_string).collect();
                return Ok(Repaired::Ended(AttemptEnd::Flawed { flaws }));
            }
            Inspected::Sound { tree, .. } => tree,
        };
        let message = super::message::message(self.round, self.selected, self.findings, &around.session.name());
        let commit = self.store.commit(&tree, self.base, &message, seconds).await?;
        let Some(results) = self.check(&commit, around).await? else { return Ok(Repaired::Stopped) };
        let checks = results.iter().map(told).collect();
        Ok(Repaired::Ended(if results.iter().all(CheckResult::passed) {
            AttemptEnd::Sound { commit: commit.as_str().to_owned(), checks }
        } else {
            AttemptEnd::Unsound { checks }
        }))
    }

    /// Runs the checks on the commit, in a folder that has nothing else of the fixer's; `None` where it was stopped.
    async fn check(&self, commit: &CommitId, around: &mut Surroundings<'_>) -> Result<Option<Vec<CheckResult>>> {
        let checks = self.work.checks();
        if checks.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let folder = self.place.checks();
        self.store.refreshed(&folder, "checks", commit).await?;
        let bench = CheckBench {
            folder: &folder,
            mechanism: around.services.mechanism(),
            sessions: around.services.sessions(),
            protected: around.services.protected(),
            environment: around.services.environment(),
            supervisor: around.services.supervisor(),
            limit: self.work.check_limit(),
            redactor: self.redactor,
        };
        let mut results = Vec::new();
        for (kind, command) in checks {
            let Some(result) = around.control.or_stop(bench.run(kind, command)).await else { return Ok(None) };
            results.push(result);
        }
        Ok(Some(results))
    }
}

/// The one fixer.
fn fixer_of(session: &Session) -> Result<Participant> {
    let seat = roles::seats(session.panel().manifest(), Role::Fixer, 1).first().copied();
    seat.ok_or_else(|| Error::internal("a fix without a fixer's seat"))
}

/// The findings that a round of repairs was begun for, if it was.
pub(super) fn begun_for(session: &Session, round: u32) -> Result<Option<Vec<FindingId>>> {
    let panel = Place::panel(round);
    if !session.panel().has_inner(panel)? {
        return Ok(None);
    }
    let folder = session.panel().enter_inner(panel)?;
    let plan = match folder.records().first().map(|record| &record.event) {
        Some(Event::Created { plan: Some(plan), .. }) => plan.get("findings").cloned(),
        _ => None,
    };
    let findings = plan.map(serde_json::from_value).transpose().map_err(|error| {
        Error::new(ErrorKind::Integrity, format!("the record of round {round} cannot be read: {error}"))
    })?;
    Ok(findings)
}

/// Keeps what the fixer has changed since `base` in the folder of round `round`.
pub(super) async fn put_aside(store: &Store, place: &Place, round: u32, base: &CommitId) -> Result<()> {
    store.put_aside(&place.worktree(), LIST, base, &place.left(round)).await
}

/// How asking ended.
enum Asked {
    /// From outside.
    Stopped,
    /// The fixer alone was cancelled.
    Cancelled,
    /// Without a reply.
    Failed(String),
    /// With this one.
    Replied(Vec<u8>),
}

/// A check in words, with the end of what it printed where it did not pass.
fn told(result: &CheckResult) -> String {
    let head = format!("{} (`{}`) {}", result.kind, result.command.join(" "), result.end);
    if result.passed() || result.output.trim().is_empty() {
        head
    } else {
        format!("{head}:\n{}", result.output.trim_end())
    }
}

/// Closes the panel of a round of repairs.
pub(super) fn close(
    session: &mut Session,
    panel: crate::session::InnerPanel,
    folder: PanelFolder,
    around: &mut Surroundings<'_>,
) -> Result<()> {
    let state = around.control.stop().map_or(SessionState::Completed, stopped_state);
    let status = folder.status().clone();
    let last = session.panel_mut().close_inner(panel, folder, state, Timestamp::now())?;
    around.observer.event(&last, &status);
    around.observer.enter(".");
    show_last(session.panel(), &mut *around.observer);
    Ok(())
}
