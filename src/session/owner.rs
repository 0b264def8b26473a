//! A session in the hands of its owner: made and opened again. Owner of `session-meta.json`, `task.md`, `.lock`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rand::CryptoRng;

use super::SessionError;
use super::child::has_record;
use super::children::lost;
use super::conversation::OpenConversation;
use super::events::{Event, Record};
use super::layout::{Layout, Round};
use super::manifest::{Cast, Manifest};
use super::meta::{EventsSeal, Meta, Money, Phase, SessionKind, SessionState};
use super::panel::{NewPanel, PanelFolder};
use super::requests;
use super::rounds::{RoundStand, held};
use super::temporary;
use crate::fault::{self, Point};
use crate::fs::{self, OwnerLock};
use crate::ids::{Sha256Hash, slug};
use crate::model::ResolvedModel;

/// How long an acting command waits for a session's lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// How often a new random part is drawn before giving up on a name.
const NAME_ATTEMPTS: usize = 16;

/// What a new session is made from.
#[derive(Debug)]
pub struct NewSession<'a> {
    /// The folder that sessions are made in.
    pub base: &'a Path,
    /// What kind of session it is.
    pub kind: SessionKind,
    /// The text whose first line names it.
    pub title: &'a str,
    /// The prompt of all slots.
    pub input: &'a [u8],
    /// The user's own text, where `input` has instructions added to it.
    pub task: Option<&'a [u8]>,
    /// The panel, in the user's order.
    pub models: Vec<ResolvedModel>,
    /// What keeps slots apart.
    pub isolation: String,
    /// The hash of each template used.
    pub prompts: BTreeMap<String, Sha256Hash>,
    /// What is to be done in it, for whoever resumes it. It names no model.
    pub plan: Option<serde_json::Value>,
    /// The judges that are to vote on its answers, where they are not the panel itself.
    pub judges: Option<Vec<ResolvedModel>>,
    /// What a pipeline session has besides; its `models` are none.
    pub pipeline: Option<NewPipeline<'a>>,
}

/// What a new pipeline session has besides.
#[derive(Debug, Clone)]
pub struct NewPipeline<'a> {
    /// Who takes part in the panels inside of it.
    pub cast: Cast,
    /// What it is about: the name of its file, and the bytes. Its hash belongs in the plan.
    pub subject: (&'static str, &'a [u8]),
}

/// What a new round of votes is made from.
#[derive(Debug)]
pub struct NewRound {
    /// The judges, in the user's order.
    pub judges: Vec<ResolvedModel>,
    /// What keeps them apart.
    pub isolation: String,
    /// The hash of each template used.
    pub prompts: BTreeMap<String, Sha256Hash>,
    /// The rules in force, by name.
    pub rules: BTreeMap<String, String>,
    /// What is to be done in it, for whoever resumes it.
    pub plan: Option<serde_json::Value>,
}

/// A session that this process owns.
#[derive(Debug)]
pub struct Session {
    pub(super) layout: Layout,
    pub(super) meta: Meta,
    pub(super) panel: PanelFolder,
    /// The conversations that something was said in, by file.
    pub(super) conversations: BTreeMap<String, OpenConversation>,
    /// Why the session is in a private temporary folder instead of where it was wanted, if it is.
    temporary: Option<String>,
    _lock: OwnerLock,
}

impl Session {
    /// Makes a new session's folder and takes its lock.
    ///
    /// Where no session can be made in `base`, a private temporary folder of the same layout is used and
    /// [`Self::temporary`] says why.
    pub fn create(new: NewSession<'_>, now: Timestamp, rng: &mut impl CryptoRng) -> Result<Self, SessionError> {
        let refused = match Self::create_in(new.base, &new, now, rng) {
            Ok(session) => return Ok(session),
            Err(error) => temporary::refusal(&error).ok_or(error)?,
        };
        match Self::create_temporary(new, now, rng) {
            Ok(session) => Ok(Self { temporary: Some(refused), ..session }),
            // Both are to be mended by whoever reads it.
            Err(SessionError::Io(error) | SessionError::NoTemporary(error)) => {
                Err(SessionError::Nowhere { refused, error })
            }
            Err(error) => Err(error),
        }
    }

    /// The same in a private temporary folder from the outset; `base` is not used.
    pub fn create_temporary(
        new: NewSession<'_>,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SessionError> {
        let folder = temporary::make().map_err(SessionError::NoTemporary)?;
        Self::create_in(&folder, &new, now, rng).inspect_err(|_| temporary::discard(&folder))
    }

    fn create_in(
        base: &Path,
        new: &NewSession<'_>,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SessionError> {
        let layout = make_folder(base, new.kind, new.title, now, rng)?;
        fault::reach(Point::SessionFolder);
        Self::fill(layout.clone(), new, now, rng).inspect_err(|_| {
            // Made a moment ago and by nobody else; half a session helps nobody.
            fs::remove_dir_all(layout.root()).ok();
        })
    }

    fn fill(
        layout: Layout,
        new: &NewSession<'_>,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SessionError> {
        let lock = take_lock(&layout)?;
        fault::reach(Point::SessionLocked);
        let id = layout.name();
        if let Some(task) = new.task {
            fs::replace(&layout.task(), task)?;
        }
        if let Some(NewPipeline { subject: (file, bytes), .. }) = new.pipeline {
            fs::replace(&layout.root().join(file), bytes)?;
        }
        let meta = Meta::begun(id.clone(), new.kind, new.title, now);
        let panel = NewPanel {
            kind: new.kind,
            session: &id,
            input: Some(new.input),
            task: new.task,
            models: new.models.clone(),
            parent: None,
            isolation: new.isolation.clone(),
            prompts: new.prompts.clone(),
            rules: BTreeMap::new(),
            plan: new.plan.clone(),
            judges: new.judges.clone(),
            cast: new.pipeline.as_ref().map(|pipeline| pipeline.cast.clone()),
        };
        let panel = PanelFolder::create(layout.clone(), panel, now, rng)?;
        // The last of all: by it commands find the session, and what they find is whole.
        fs::replace_json(&layout.meta(), &meta)?;
        fault::reach(Point::SessionMade);
        Ok(Self { layout, meta, panel, conversations: BTreeMap::new(), temporary: None, _lock: lock })
    }

    /// Takes a session that exists, to act on it. A living owner is named in the error.
    pub fn open(layout: Layout) -> Result<Self, SessionError> {
        let meta = Meta::read(&layout.meta())?;
        let lock = take_lock(&layout)?;
        // Read again: the owner may have written until it let go of the lock.
        let meta = Meta::read(&layout.meta()).unwrap_or(meta);
        let panel = PanelFolder::open_sealed(layout.clone(), &meta.session_id, meta.events.as_ref())?;
        // What was asked of an owner that died must not hit this one.
        drop(requests::take(&layout));
        Ok(Self { layout, meta, panel, conversations: BTreeMap::new(), temporary: None, _lock: lock })
    }

    /// What kind of session it is.
    #[must_use]
    pub const fn kind(&self) -> SessionKind {
        self.meta.kind
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.meta.session_id
    }

    /// Where the files are.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What is known about the session as a whole.
    #[must_use]
    pub const fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The session's own panel.
    #[must_use]
    pub const fn panel(&self) -> &PanelFolder {
        &self.panel
    }

    /// The session's own panel, to work on.
    pub const fn panel_mut(&mut self) -> &mut PanelFolder {
        &mut self.panel
    }

    /// Why the session is in a temporary folder instead of where it was wanted, if it is.
    #[must_use]
    pub fn temporary(&self) -> Option<&str> {
        self.temporary.as_deref()
    }

    /// Reads who wrote what, and records that somebody did. A session that is at work has its own owner, who is not
    /// disturbed: that is an error.
    pub fn reveal(layout: Layout, now: Timestamp) -> Result<Manifest, SessionError> {
        let mut session = Self::open(layout)?;
        let newest = session.panel.records().iter().rev().find_map(|record| match record.event {
            Event::PanelOpened { panel } => Some(session.layout.inner(panel)),
            _ => None,
        });
        // Of a pipeline session those of the newest panel inside.
        let manifest = Manifest::read(&newest.as_ref().unwrap_or(&session.layout).manifest())?;
        session.note(Event::Revealed, now)?;
        Ok(manifest)
    }

    /// Adds an event to a session that stays as it is (somebody looked at the names), and seals the record again.
    pub fn note(&mut self, event: Event, now: Timestamp) -> Result<(), SessionError> {
        self.panel.record(event, now)?;
        self.panel.settle()?;
        if self.meta.events.is_some() {
            self.meta.events = self.panel.head().map(|head| EventsSeal { count: self.panel.count(), head });
            fs::replace_json(&self.layout.meta(), &self.meta)?;
        }
        Ok(())
    }

    /// Opens a new round of votes.
    pub fn open_round(
        &mut self,
        new: NewRound,
        now: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<(Round, PanelFolder), SessionError> {
        self.panel.open_round(self.meta.kind, new, now, rng)
    }

    /// Opens a round that exists, to go on with it or to end it.
    pub fn enter_round(&self, round: Round) -> Result<PanelFolder, SessionError> {
        PanelFolder::open(self.layout.round(round), &self.meta.session_id)
    }

    /// Whether somebody was or could be asked in `round`.
    pub fn is_made(&self, round: Round) -> Result<bool, SessionError> {
        has_record(&self.layout.round(round))
    }

    /// Fails where the session's record knows of a verdict or of an end of a round that has no record any more.
    pub fn check_rounds(&self) -> Result<(), SessionError> {
        self.panel.check_children()?;
        for round in held(self.panel.records()) {
            if !self.is_made(round)? {
                return Err(lost(&self.layout.round(round)));
            }
        }
        Ok(())
    }

    /// The newest round in which somebody could be asked; `None` where there is none.
    ///
    /// # Errors
    /// The record of a round that was held is lost.
    pub fn newest_round(&self) -> Result<Option<RoundStand>, SessionError> {
        self.check_rounds()?;
        let mut made = Vec::new();
        for round in self.layout.rounds() {
            if self.is_made(round)? {
                made.push(round);
            }
        }
        Ok(RoundStand::newest(self.panel.records(), |round| made.contains(&round)))
    }

    /// Closes a round and ties its record to the session's; gives back the round's last line.
    pub fn close_round(
        &mut self,
        round: Round,
        panel: PanelFolder,
        state: SessionState,
        now: Timestamp,
    ) -> Result<Record, SessionError> {
        self.panel.close_round(round, panel, state, now)
    }

    /// Notes a finished phase.
    pub fn finish_phase(&mut self, phase: Phase) {
        self.meta.finish(phase);
    }

    /// Names the models, which only a published verdict may do.
    pub fn name_models(&mut self) {
        let manifest = self.panel.manifest();
        let names = manifest.shuffle_order.iter().filter_map(|slot| manifest.member(*slot));
        let mut names: Vec<String> = names.map(|member| member.model.clone()).collect();
        if let Some(cast) = &manifest.cast {
            let others = manifest.judges.iter().flatten().chain(cast.fixer.as_deref());
            names.extend(cast.panel.iter().chain(others).map(|model| model.name.clone()));
        }
        self.meta.models_used = Some(names);
    }

    /// Says what was spent, where the models are named.
    pub fn tell_money(&mut self, money: Money) {
        if self.meta.models_used.is_some() {
            self.meta.money = Some(money);
        }
    }
}

/// Takes the session's lock for this process.
pub(super) fn take_lock(layout: &Layout) -> Result<OwnerLock, SessionError> {
    let owner = format!("process {} on `{}`", std::process::id(), host_name());
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => SessionError::NotWritable(error),
        _ => SessionError::Io(error),
    };
    OwnerLock::acquire(&layout.lock(), &owner, LOCK_PATIENCE)
        .map_err(refused)?
        .map_err(|owner| SessionError::Owned { session: layout.name(), owner })
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Makes `{type}-{slug}-{date}-{time}-{4 hex}` in `base`, with a new random part where the name is taken.
fn make_folder(
    base: &Path,
    kind: SessionKind,
    title: &str,
    now: Timestamp,
    rng: &mut impl CryptoRng,
) -> io::Result<Layout> {
    fs::create_dir_all(base)?;
    let time = now.strftime("%Y%m%d-%H%M%S").to_string();
    let stem = format!("{}-{}-{time}", kind.as_str(), slug(title));
    for _ in 0..NAME_ATTEMPTS {
        let path = base.join(format!("{stem}-{:04x}", rng.next_u32() & 0xffff));
        match fs::create_dir_exclusive(&path) {
            Ok(()) => return Ok(Layout::new(absolute(&path)?)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("no free name for a session `{stem}-…` in `{}`", base.display())))
}

fn absolute(path: &Path) -> io::Result<PathBuf> {
    fs_err::canonicalize(path)
}

#[cfg(test)]
mod tests {
    use super::super::testing::model;
    use super::*;
    use crate::session::View;

    fn new<'a>(base: &'a Path, input: &'a [u8]) -> NewSession<'a> {
        NewSession {
            base,
            kind: SessionKind::Team,
            title: "# Which one?",
            input,
            task: None,
            models: vec![model("a"), model("b")],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            plan: None,
            judges: None,
            pipeline: None,
        }
    }

    fn new_round() -> NewRound {
        NewRound {
            judges: vec![model("j")],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            rules: BTreeMap::new(),
            plan: None,
        }
    }

    #[test]
    fn a_session_is_named_by_type_slug_time_and_chance() {
        let dir = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-02-09T14:30:22Z".parse().unwrap();
        let session = Session::create(new(dir.path(), b"x"), now, &mut rand::rng()).unwrap();
        assert!(session.id().starts_with("team-which-one-20260209-143022-"), "{}", session.id());
        assert_eq!(session.id().len(), "team-which-one-20260209-143022-".len() + 4);
        let second = Session::create(new(dir.path(), b"x"), now, &mut rand::rng()).unwrap();
        assert_ne!(session.id(), second.id());
    }

    #[test]
    fn a_base_that_cannot_be_made_gives_a_private_temporary_session() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::replace(&file, b"").unwrap();
        let now = Timestamp::now();
        let session = Session::create(new(&file, b"x"), now, &mut rand::rng()).unwrap();
        assert!(session.temporary().is_some());
        assert!(session.layout().manifest().is_file());
        fs::remove_dir_all(session.layout().root().parent().unwrap()).unwrap();
    }

    #[test]
    fn closing_seals_the_record_and_a_second_owner_is_refused_before() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::create(new(dir.path(), b"hi"), Timestamp::now(), &mut rand::rng()).unwrap();
        let layout = session.layout().clone();
        let error = Session::open(layout.clone()).unwrap_err().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        session.close(SessionState::Failed, Timestamp::now()).unwrap();
        let view = View::read(layout.clone()).unwrap();
        assert_eq!(view.status.state, SessionState::Failed);
        let history = super::super::History::read(&layout.events()).unwrap();
        let seal = view.meta.events.unwrap();
        assert_eq!((seal.count, seal.head), (history.records.len() as u64, history.head));
        drop(session);
        Session::open(layout).unwrap();
    }

    #[test]
    fn a_round_is_tied_to_the_session_in_both_directions() {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::now();
        let mut rng = rand::rng();
        let mut session = Session::create(new(dir.path(), b"hi"), now, &mut rng).unwrap();
        let (round, panel) = session.open_round(new_round(), now, &mut rng).unwrap();
        let head_before = session.panel().head().unwrap();
        let round_layout = panel.layout().clone();
        session.close_round(round, panel, SessionState::Completed, now).unwrap();
        let history = super::super::History::read(&round_layout.events()).unwrap();
        let Event::Created { parent: Some(parent), .. } = &history.records[0].event else { panic!() };
        assert_eq!(parent.head, head_before);
        let own = super::super::History::read(&session.layout().events()).unwrap();
        let Event::RoundClosed { head, .. } = own.records.last().unwrap().event else { panic!() };
        assert_eq!(head, history.head);
        let (second, _) = session.open_round(new_round(), now, &mut rng).unwrap();
        assert_eq!(second.folder(), "judging-2");
    }

    #[test]
    fn the_status_is_the_fold_of_the_record_and_the_close_holds_the_metas_digest_though_the_clock_was_set_back() {
        let dir = tempfile::tempdir().unwrap();
        let later = Timestamp::from_second(1000).unwrap();
        let mut session = Session::create(new(dir.path(), b"hi"), later, &mut rand::rng()).unwrap();
        let layout = session.layout().clone();
        let slot = *session.panel().status().models.keys().next().unwrap();
        session.panel_mut().record(Event::SlotStarted { slot, attempt: 1 }, Timestamp::UNIX_EPOCH).unwrap();
        session.close(SessionState::Failed, Timestamp::UNIX_EPOCH).unwrap();
        let history = super::super::History::read(&layout.events()).unwrap();
        let status = super::super::Status::read(&layout.status()).unwrap();
        assert_eq!(super::super::Status::fold(status.session.clone(), &history.records).unwrap(), status);
        assert_eq!(status.completed_at, Some(later));
        let meta = fs_err::read(layout.meta()).unwrap();
        let Event::Closed { meta: digest, .. } = history.records.last().unwrap().event else { panic!("not closed") };
        assert!(digest.is_some());
        assert_eq!(Meta::digest_of(&meta), digest);
        assert_eq!(Meta::read(&layout.meta()).unwrap().completed_at, Some(later));
        let changed = String::from_utf8(meta).unwrap().replace("Which one?", "Which two?");
        assert_ne!(Meta::digest_of(changed.as_bytes()), digest);
        assert_eq!(Meta::digest_of(b"[]"), None);
    }
}
