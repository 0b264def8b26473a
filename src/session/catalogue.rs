//! Finding and looking at sessions without acting on them. Writes nothing, creates nothing.

use std::path::{Path, PathBuf};

use fs_err as fs;

use super::SessionError;
use super::child::has_record;
use super::events::History;
use super::layout::{Layout, Round, Turn};
use super::meta::{Meta, SessionState};
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
    /// The newest round of votes, where there is one.
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
        let round = layout.rounds().pop();
        let round = round.and_then(|round| {
            let folder = layout.round(round);
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
        Ok(Self { layout, meta, status, round, owner })
    }

    /// How the session stands.
    #[must_use]
    pub const fn state(&self) -> SessionState {
        self.status.state
    }
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
        if reference.contains('/') || reference == "." {
            return is_session(Path::new(reference)).ok_or_else(not_found);
        }
        if reference == "latest" {
            return self.list()?.pop().map(|(layout, _)| layout).ok_or_else(not_found);
        }
        let folders = self.folders()?;
        let names: Vec<String> = folders.iter().map(Layout::name).collect();
        match choose(&names, reference)? {
            Some(at) => folders.into_iter().nth(at).ok_or_else(not_found),
            None => is_session(Path::new(reference)).ok_or_else(not_found),
        }
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
                SessionError::NotFound { .. } => damaged.ok_or(error),
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
        let path = layout.root().display().to_string();
        let plain = |c: char| c.is_alphanumeric() || "/._-+@:,".contains(c);
        if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
    }

    fn folders(&self) -> Result<Vec<Layout>, SessionError> {
        let entries = match fs::read_dir(&self.base) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        Ok(entries.filter_map(|entry| is_session(&entry.ok()?.path())).collect())
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
    has_record(layout).unwrap_or(true) || layout.status().is_file()
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
