//! Finding and looking at sessions without acting on them. Writes nothing, creates nothing.

use std::path::{Path, PathBuf};

use fs_err as fs;

use super::SessionError;
use super::child::has_record;
use super::events::{Event, History};
use super::gc::{Standing, standing};
use super::layout::{InnerPanel, Layout, Round, Turn};
use super::meta::{Meta, SessionKind, SessionState};
use super::slot::SlotState;
use super::status::Status;
use crate::fs::{LockState, OwnerLock};

/// A session as it stands, for showing.
#[derive(Debug, Clone)]
pub struct View {
    /// Where it is.
    pub layout: Layout,
    /// What it is.
    pub meta: Meta,
    /// The state of its slots; what has no living owner is shown as interrupted and lost.
    pub status: Status,
    /// The newest panel inside of a pipeline session, where there is one.
    pub inner: Option<(InnerPanel, Status)>,
    /// The newest round of votes, where there is one; of a pipeline, that of the newest panel.
    pub round: Option<(Round, Status)>,
    /// The living owner, in words.
    pub owner: Option<String>,
}

impl View {
    /// Reads a session.
    pub fn read(layout: Layout) -> Result<Self, SessionError> {
        let owner = match OwnerLock::probe(&layout.lock())? {
            LockState::Free => None,
            LockState::Held(owner) => Some(owner),
        };
        let meta = Meta::read(&layout.meta())?;
        let stand = |layout: &Layout| {
            let status = Status::read(&layout.status());
            // With the seal the last of everything was written.
            let is_whole = meta.events.is_some() && status.as_ref().is_ok_and(|status| !status.state.is_active());
            if is_whole || (owner.is_some() && status.is_ok()) {
                return status;
            }
            // The owner may have died, or been refused the disk, between the record and the status.
            let recorded = History::read(&layout.events())
                .and_then(|history| Status::fold(meta.session_id.clone(), &history.records));
            match (recorded, owner.is_some()) {
                (Ok(recorded), true) => Ok(recorded),
                (Ok(recorded), false) => Ok(recorded.without_owner()),
                (Err(_), _) => status.map(Status::without_owner),
            }
        };
        let status = stand(&layout)?;
        let inner = newest_inner(&layout, &meta).and_then(|panel| {
            let folder = layout.inner(panel);
            let mut status = stand(&folder).ok()?;
            for turn in [Turn::Repair, Turn::Fresh] {
                let Ok(inside) = stand(&folder.turn(turn)) else { continue };
                if inside.state.is_active() {
                    status.models.extend(inside.models);
                }
            }
            Some((panel, status))
        });
        let around = inner.as_ref().map_or_else(|| layout.clone(), |(panel, _)| layout.inner(*panel));
        let round = around.rounds().pop();
        let round = round.and_then(|round| {
            let folder = around.round(round);
            let mut status = stand(&folder).ok()?;
            // A judge that is asked in a further turn is what it is there; one that did not complete its second pass is
            // what it ended as in that one. A repair turn that brings nothing leaves it as it was.
            let second = folder.turn(Turn::SecondPass);
            for (turn, weighs) in
                [(folder.turn(Turn::Repair), false), (second.clone(), true), (second.turn(Turn::Repair), false)]
            {
                let Ok(inside) = stand(&turn) else { continue };
                let active = inside.state.is_active();
                let told = inside
                    .models
                    .into_iter()
                    .filter(|(_, slot)| active || weighs && slot.state != SlotState::Completed);
                status.models.extend(told);
            }
            Some((round, status))
        });
        Ok(Self { layout, meta, status, inner, round, owner })
    }

    /// The panel that answers: of a pipeline session the newest inside of it.
    #[must_use]
    pub fn panel(&self) -> &Status {
        self.inner.as_ref().map_or(&self.status, |(_, status)| status)
    }

    /// Where that panel's files are.
    #[must_use]
    pub fn panel_layout(&self) -> Layout {
        self.inner.as_ref().map_or_else(|| self.layout.clone(), |(panel, _)| self.layout.inner(*panel))
    }

    /// The folder of a round of votes, from the session's.
    #[must_use]
    pub fn folder_of(&self, round: Round) -> String {
        match &self.inner {
            Some((panel, _)) => format!("{}/{}", panel.folder(), round.folder()),
            None => round.folder(),
        }
    }

    /// How the session stands.
    #[must_use]
    pub const fn state(&self) -> SessionState {
        self.status.state
    }
}

/// The panel of a pipeline session that was opened last, as far as its record can be read.
fn newest_inner(layout: &Layout, meta: &Meta) -> Option<InnerPanel> {
    // Others have none, and their records need not be read for that.
    if meta.kind == SessionKind::Team {
        return None;
    }
    let records = History::read(&layout.events()).ok()?.records;
    records.iter().rev().find_map(|record| match record.event {
        Event::PanelOpened { panel } => Some(panel),
        _ => None,
    })
}

/// The sessions below one folder.
#[derive(Debug, Clone)]
pub struct Catalogue {
    base: PathBuf,
}

impl Catalogue {
    /// The sessions in `base`, which need not exist.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// The folder that they are in.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The session whose folder has this name.
    pub fn exactly(&self, id: &str) -> Result<Layout, SessionError> {
        let found = self.folders()?.into_iter().find(|layout| layout.name() == id);
        found.ok_or_else(|| SessionError::NotFound { reference: id.to_owned(), base: self.base.clone() })
    }

    /// Every session, oldest first; of equal times by id. Folders that are no sessions are left out.
    pub fn list(&self) -> Result<Vec<(Layout, Meta)>, SessionError> {
        let mut sessions: Vec<(Layout, Meta)> = self
            .folders()?
            .into_iter()
            .filter_map(|layout| {
                let meta = Meta::read(&layout.meta()).inspect_err(|error| tracing::warn!("left out: {error}")).ok()?;
                Some((layout, meta))
            })
            .collect();
        sessions.sort_by(|(_, a), (_, b)| in_order(a, b));
        Ok(sessions)
    }

    /// The session that `reference` names: a path, an id, an unambiguous start of one, or `latest`.
    pub fn find(&self, reference: &str) -> Result<Layout, SessionError> {
        let not_found = || SessionError::NotFound { reference: reference.to_owned(), base: self.base.clone() };
        if reference.contains('/') || reference == "." || reference == ".." {
            return look_at(Path::new(reference));
        }
        if reference == "latest" {
            if let Some((layout, _)) = self.list()?.pop() {
                return Ok(layout);
            }
            // By their names: the newest that was begun is the last of its kind.
            let begun = self.unmade()?.into_iter().max_by_key(|path| made_at(path));
            return Err(begun.map_or_else(not_found, |path| look_at(&path).err().unwrap_or_else(not_found)));
        }
        let folders = self.folders()?;
        let names: Vec<String> = folders.iter().map(Layout::name).collect();
        if let Some(at) = choose(&names, reference)? {
            return folders.into_iter().nth(at).ok_or_else(not_found);
        }
        if let Some(layout) = is_session(Path::new(reference)) {
            return Ok(layout);
        }
        let begun = self.unmade()?;
        let names: Vec<String> = begun.iter().map(|path| Layout::new(path).name()).collect();
        match choose(&names, reference)? {
            Some(at) => begun.get(at).map_or_else(|| Err(not_found()), |path| look_at(path)),
            None => Err(not_found()),
        }
    }

    /// The folders that were to become sessions and are none.
    fn unmade(&self) -> Result<Vec<PathBuf>, SessionError> {
        let paths = self.entries()?.into_iter();
        let is_none = |path: &PathBuf| is_session(path).is_none() && path.is_dir();
        Ok(paths.filter(is_none).filter(|path| !matches!(standing(path), Standing::Foreign)).collect())
    }

    /// The same, and also a folder, by its path or its whole name, that was a session and has lost the file that says so:
    /// for those that tell what is wrong with it.
    pub fn find_any(&self, reference: &str) -> Result<Layout, SessionError> {
        self.find(reference).or_else(|error| {
            let damaged = [PathBuf::from(reference), self.base.join(reference)].into_iter().find_map(|path| {
                let layout = Layout::new(fs::canonicalize(path).ok()?);
                was_made(&layout).then_some(layout)
            });
            match error {
                SessionError::NotFound { .. }
                | SessionError::NotASession { .. }
                | SessionError::Unmade(_)
                | SessionError::Missing(_) => damaged.ok_or(error),
                _ => Err(error),
            }
        })
    }

    /// What to write on a command line to name the session of `layout`: its id where that leads to it, else its path.
    #[must_use]
    pub fn reference(&self, layout: &Layout) -> String {
        let base = fs::canonicalize(&self.base);
        if base.is_ok_and(|base| layout.root().parent() == Some(base.as_path())) {
            return layout.name();
        }
        shell_word(&layout.root().display().to_string())
    }

    fn folders(&self) -> Result<Vec<Layout>, SessionError> {
        Ok(self.entries()?.iter().filter_map(|path| is_session(path)).collect())
    }

    fn entries(&self) -> Result<Vec<PathBuf>, SessionError> {
        match fs::read_dir(&self.base) {
            Ok(entries) => Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).collect()),
            Err(error) => match error.kind() {
                std::io::ErrorKind::NotFound => Ok(Vec::new()),
                std::io::ErrorKind::NotADirectory => Err(SessionError::NotAFolder(self.base.clone())),
                _ => Err(error.into()),
            },
        }
    }
}

/// `text` as one word of a command line.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Which of `names` is meant by `reference`: the one itself, else the only one that begins with it.
pub(super) fn choose(names: &[String], reference: &str) -> Result<Option<usize>, SessionError> {
    if let Some(exact) = names.iter().position(|name| name == reference) {
        return Ok(Some(exact));
    }
    let mut found = names.iter().enumerate().filter(|(_, name)| name.starts_with(reference));
    let Some((first, _)) = found.next() else { return Ok(None) };
    let rest: Vec<&String> = found.map(|(_, name)| name).collect();
    if rest.is_empty() {
        return Ok(Some(first));
    }
    let mut candidates: Vec<String> = rest.into_iter().chain([&names[first]]).map(|name| format!("`{name}`")).collect();
    candidates.sort();
    Err(SessionError::Ambiguous { reference: reference.to_owned(), candidates })
}

/// The order of a list: by time, then by id.
pub(super) fn in_order(a: &Meta, b: &Meta) -> std::cmp::Ordering {
    (a.started_at, &a.session_id).cmp(&(b.started_at, &b.session_id))
}

/// Whether somebody was or could be asked in a folder that is no session: its record was begun, or its status written.
/// Where neither is, its owner was stopped while it made the folder.
fn was_made(layout: &Layout) -> bool {
    layout.root().is_dir() && (has_record(layout).unwrap_or(true) || layout.status().is_file())
}

/// The session in the folder at `path`, or what that is instead.
fn look_at(path: &Path) -> Result<Layout, SessionError> {
    let not_one = |why| Err(SessionError::NotASession { path: path.to_owned(), why });
    if let Some(layout) = is_session(path) {
        return Ok(layout);
    }
    let found = match fs::canonicalize(path) {
        Ok(found) => found,
        Err(error) => match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                return not_one("there is no such folder");
            }
            _ => return Err(error.into()),
        },
    };
    if !found.is_dir() {
        return not_one("it is no folder");
    }
    let layout = Layout::new(found);
    match standing(layout.root()) {
        Standing::Unmade => Err(SessionError::Unmade(layout.root().to_owned())),
        Standing::Owned(owner) => Err(SessionError::Owned { session: layout.name(), owner }),
        Standing::Damaged(_) => Err(SessionError::Missing(layout.meta())),
        _ => not_one("it has no `session-meta.json`"),
    }
}

/// When the folder at `path` was made, by its name.
fn made_at(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let mut parts = name.rsplitn(4, '-').skip(1);
    let (time, day) = (parts.next()?, parts.next()?);
    Some(format!("{day}{time}"))
}

fn is_session(path: &Path) -> Option<Layout> {
    let path = fs::canonicalize(path).ok()?;
    let layout = Layout::new(path);
    layout.meta().is_file().then_some(layout)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::Timestamp;

    use super::super::testing::model;
    use super::super::{NewSession, Session, SessionKind};
    use super::*;

    fn make(base: &Path, title: &str, second: i64) -> String {
        let new = NewSession {
            base,
            kind: SessionKind::Team,
            title,
            input: b"x",
            task: None,
            models: vec![model("a")],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            plan: None,
            judges: None,
            pipeline: None,
        };
        let session = Session::create(new, Timestamp::from_second(second).unwrap(), &mut rand::rng()).unwrap();
        session.id().to_owned()
    }

    #[test]
    fn a_session_is_found_by_path_id_prefix_and_latest() {
        let dir = tempfile::tempdir().unwrap();
        let old = make(dir.path(), "old", 1);
        let new = make(dir.path(), "new", 2);
        let catalogue = Catalogue::new(dir.path());
        let path = dir.path().join(&old);
        assert_eq!(catalogue.find(path.to_str().unwrap()).unwrap().name(), old);
        assert_eq!(catalogue.find(&old).unwrap().name(), old);
        assert_eq!(catalogue.find("team-n").unwrap().name(), new);
        assert_eq!(catalogue.find("latest").unwrap().name(), new);
        let elsewhere = Catalogue::new(dir.path().join("it's"));
        for (catalogue, expected) in [(&catalogue, old.clone()), (&elsewhere, path.display().to_string())] {
            let layout = catalogue.find(path.to_str().unwrap()).unwrap();
            assert_eq!(catalogue.reference(&layout), expected);
        }
        assert_eq!(catalogue.reference(&Layout::new("/a b/it's")), r"'/a b/it'\''s'");
        assert!(matches!(catalogue.find("team-"), Err(SessionError::Ambiguous { .. })));
        assert!(matches!(catalogue.find("nope"), Err(SessionError::NotFound { .. })));
        let ids: Vec<String> = catalogue.list().unwrap().into_iter().map(|(_, meta)| meta.session_id).collect();
        assert_eq!(ids, [old, new]);
    }

    #[test]
    fn a_session_without_its_meta_is_found_only_to_be_checked() {
        let dir = tempfile::tempdir().unwrap();
        let id = make(dir.path(), "x", 1);
        let catalogue = Catalogue::new(dir.path());
        let path = dir.path().join(&id);
        fs::remove_file(path.join("session-meta.json")).unwrap();
        assert!(catalogue.find(&id).is_err());
        assert_eq!(catalogue.find_any(&id).unwrap().name(), id);
        assert_eq!(catalogue.find_any(path.to_str().unwrap()).unwrap().name(), id);
        assert!(catalogue.find_any("nope").is_err());
    }

    #[test]
    fn looking_for_sessions_creates_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("none");
        let catalogue = Catalogue::new(&base);
        assert!(catalogue.list().unwrap().is_empty());
        assert!(catalogue.find("latest").is_err());
        assert!(!base.exists());
    }

    #[test]
    fn a_session_whose_owner_is_gone_is_shown_as_interrupted() {
        let dir = tempfile::tempdir().unwrap();
        let id = make(dir.path(), "x", 1);
        let view = View::read(Catalogue::new(dir.path()).find(&id).unwrap()).unwrap();
        assert_eq!(view.state(), SessionState::Interrupted);
        assert_eq!(view.owner, None);
    }
}
