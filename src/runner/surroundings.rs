//! What is around a slot's process: the sessions it must not see, and the private folders it gets in place of shared ones.
//!
//! Owns the private folders: one below the system's temporary folder for the whole command, one in it for each attempt,
//! removed with the attempt where it was needed at all. Looks at paths and makes folders; what is done with them is [`crate::isolation`]'s.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem;
use rustix::fs::Mode;

use super::private::PrivateFolder;
use crate::fs::{self, FolderUse, ProcessFolder};
use crate::isolation::{Absent, Access, Enclosure, Mechanism, Place, Shown};
use crate::session::{Layout, temporary_folders};
use crate::slots::agents::{HomeUse, ProcessPlan, Transcript};

/// Where programs leave temporary files.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// What ends a path in a command line or a variable.
const AFTER_PATH: &[u8] = b"/:;,=&|<>()\"'` \t\n";

/// The same for every slot of a command.
#[derive(Debug)]
pub struct Surroundings {
    /// Folders that hold sessions.
    sessions: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// The folder that the command was started in.
    current: PathBuf,
    /// What no process may change, once that is known.
    protected: OnceLock<Vec<PathBuf>>,
    /// The folder of all private ones.
    scratch: ProcessFolder,
    /// How many private folders have been given a name.
    given: AtomicU64,
}

impl Surroundings {
    /// Around a command started in `current` by a user with this `home`; `sessions` need not exist yet.
    pub fn new(sessions: Vec<PathBuf>, home: Option<PathBuf>, current: PathBuf) -> io::Result<Self> {
        let scratch = ProcessFolder::make(FolderUse::Slots)?;
        Ok(Self { sessions, home, current, protected: OnceLock::new(), scratch, given: AtomicU64::new(0) })
    }

    /// From now on no process may change what is in `folders`, but for what is its own. The first call counts: a command
    /// works in one repository. A folder that holds HOME stays as it is, for programs write there.
    pub(crate) fn protect(&self, folders: &[PathBuf]) {
        let home = self.home.as_deref().and_then(|home| home.canonicalize().ok());
        let holds_home = |folder: &PathBuf| home.as_ref().is_some_and(|home| home.starts_with(folder));
        let found = folders.iter().filter_map(|folder| folder.canonicalize().ok());
        self.protected.get_or_init(|| outermost(found.filter(|folder| !holds_home(folder)).collect()));
    }

    /// The folder that the command was started in.
    pub(crate) fn current(&self) -> &Path {
        &self.current
    }

    /// What no process may change.
    pub(crate) fn protected(&self) -> &[PathBuf] {
        self.protected.get().map_or(&[], Vec::as_slice)
    }

    /// The folders of which slots of the session at `session` see nothing: temporary sessions of other commands are among
    /// them, for not every mechanism puts another folder in the place of the temporary one.
    fn hidden(&self, session: &Layout) -> Vec<PathBuf> {
        let bases: Vec<PathBuf> = self.sessions.iter().cloned().chain(temporary_folders()).collect();
        hidden(&bases, session.root(), &[Some(self.current.as_path()), self.home.as_deref()])
    }

    /// The mechanism for a slot of the session at `session`.
    pub(crate) fn mechanism(&self, strongest: Mechanism, session: &Layout, plan: &ProcessPlan) -> Mechanism {
        self.mechanism_for(strongest, plan, &self.hidden(session))
    }

    /// The mechanism for one slot: Landlock cannot be used where a program would lose its sign-in by it.
    fn mechanism_for(&self, strongest: Mechanism, plan: &ProcessPlan, hidden: &[PathBuf]) -> Mechanism {
        let on_the_way = self.is_on_the_way(hidden) || self.is_on_the_way(self.protected());
        let lost = plan.home == HomeUse::WritesWithStoredSignIn && on_the_way;
        if strongest == Mechanism::Landlock && lost { Mechanism::TreeWalk } else { strongest }
    }

    /// Whether a program of this plan is held by `strongest`, or by less, in a session below the usual folder.
    #[must_use]
    pub fn holds(&self, strongest: Mechanism, plan: &ProcessPlan) -> bool {
        let hidden = hidden(&self.sessions, Path::new("/nonexistent"), &[]);
        self.mechanism_for(strongest, plan, &hidden) == strongest
    }

    /// Whether HOME is a folder on the way to a hidden one, in which Landlock lets nobody make a file.
    fn is_on_the_way(&self, hidden: &[PathBuf]) -> bool {
        let home = self.home.as_deref().and_then(|home| home.canonicalize().ok());
        home.is_some_and(|home| hidden.iter().any(|hidden| hidden.starts_with(&home)))
    }

    /// The folder of one attempt; no other has its name, which says nothing of the slot.
    pub(crate) fn private_folder(&self) -> PrivateFolder {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        PrivateFolder::new(self.scratch.path(), &format!("slot-{number}"))
    }

    /// Fills the folder of one attempt, and says what its process may see. It runs in `workspace` where it has one, which
    /// may lie in that folder.
    #[expect(clippy::too_many_arguments, reason = "each is another kind of path")]
    pub(crate) fn enclose(
        &self,
        strongest: Mechanism,
        private: &mut PrivateFolder,
        session: &Layout,
        work: &Path,
        prompt: &Path,
        workspace: Option<&Path>,
        plan: &mut ProcessPlan,
    ) -> io::Result<Enclosed> {
        let mut hidden = self.hidden(session);
        let mechanism = self.mechanism_for(strongest, plan, &hidden);
        if mechanism == Mechanism::TreeWalk {
            if workspace.is_some() {
                // The folder that it runs in is none to write into.
                own_temporary_folder(private, plan)?;
            }
            let enclosure = Enclosure { scratch: private.made().map(Path::to_owned), ..Enclosure::default() };
            return Ok(Enclosed { mechanism, enclosure, home: None });
        }
        private.make()?;
        let mut own_home = None;
        if mechanism == Mechanism::Landlock {
            own_temporary_folder(private, plan)?;
        }
        let own = private.path();
        let mut enclosure = Enclosure { scratch: Some(own.to_owned()), ..Enclosure::default() };
        let mut shown = vec![
            Shown { path: work.canonicalize()?, access: Access::Write },
            Shown { path: prompt.canonicalize()?, access: Access::Read },
        ];
        if mechanism == Mechanism::Landlock {
            let home = own.join("home");
            if self.is_on_the_way(&hidden) || self.is_on_the_way(self.protected()) {
                for left in &plan.leaves {
                    // It cannot make it itself any more.
                    fs::create_dir_all(left).ok();
                }
                if plan.home == HomeUse::WritesWithSignInElsewhere {
                    make(&home, Mode::RWXU)?;
                    set(&mut plan.env, "HOME", &home);
                    own_home = Some(home);
                }
            }
        } else {
            enclosure.places = self.places(own, plan)?;
            enclosure.kept = self.kept(&enclosure.places, plan);
        }
        shown.extend(workspace.map(|path| Shown { path: path.to_owned(), access: Access::Read }));
        if workspace.is_some_and(|workspace| workspace.starts_with(own)) {
            // What Landlock lets be written of a folder can be written of all that is in it.
            let parts = [private.program().to_owned(), own.join("tmp"), own.join("home")];
            let parts = parts.into_iter().filter(|path| path.is_dir());
            shown.extend(parts.map(|path| Shown { path, access: Access::Write }));
        } else {
            // All of it, though the program's own files would do: codex looks for every path to its temporary folder, by
            // the table of mounts, and its sandbox fails over one that is not there.
            shown.push(Shown { path: own.to_owned(), access: Access::Write });
        }
        hidden.extend(own.parent().map(Path::to_owned));
        enclosure.hidden = outermost(hidden);
        enclosure.protected = self.protected().to_vec();
        enclosure.shown = shown;
        Ok(Enclosed { mechanism, enclosure, home: own_home })
    }

    /// Private folders for the shared ones that programs write into.
    fn places(&self, own: &Path, plan: &ProcessPlan) -> io::Result<Vec<Place>> {
        let variable = plan.env.iter().find(|(name, _)| name == "TMPDIR").map(|(_, value)| PathBuf::from(value));
        let temporary = TEMPORARY.iter().map(PathBuf::from).chain([std::env::temp_dir()]).chain(variable);
        let mut usual: Vec<PathBuf> = temporary.filter_map(|path| path.canonicalize().ok()).collect();
        usual.sort_unstable();
        usual.dedup();
        usual.retain(|path| !path.starts_with(own));
        // A temporary folder that is or holds one of these is no temporary folder.
        usual.retain(|path| {
            let used = [self.home.as_deref(), Some(self.current.as_path())];
            TEMPORARY.iter().any(|known| path == Path::new(known))
                || !used.iter().flatten().any(|used| used.starts_with(path))
        });
        // One for them all: no program takes the same name in two of them for two things, and folders cost time.
        let private = own.join("tmp");
        make(&private, Mode::RWXU | Mode::RWXG | Mode::RWXO | Mode::SVTX)?;
        let mut places: Vec<Place> =
            usual.into_iter().map(|usual| Place { usual, private: private.clone(), absent: Absent::Skip }).collect();
        for (number, usual) in plan.leaves.iter().enumerate() {
            let private = own.join(number.to_string());
            make(&private, Mode::RWXU)?;
            places.push(Place { usual: usual.clone(), private, absent: Absent::Make });
        }
        Ok(places)
    }

    /// What the program was told of stays where it is: the entries of private folders that its command line, its
    /// variables, HOME or the current folder lead to, and what it keeps among its transcripts.
    fn kept(&self, places: &[Place], plan: &ProcessPlan) -> Vec<PathBuf> {
        let mut told: Vec<OsString> = plan.argv.clone();
        told.extend(plan.env.iter().map(|(_, value)| value.clone()));
        told.extend([self.current.clone().into_os_string()]);
        told.extend(self.home.clone().map(PathBuf::into_os_string));
        // A program, or a folder of programs, may be a link to where it really lies.
        let paths: Vec<PathBuf> =
            told.iter().flat_map(std::env::split_paths).filter(|path| path.is_absolute()).collect();
        told.extend(paths.iter().filter_map(|path| Some(path.canonicalize().ok()?.into_os_string())));
        let temporary = places.iter().filter(|place| place.absent == Absent::Skip);
        let mut kept: Vec<PathBuf> = temporary.flat_map(|place| entries_named(&place.usual, &told)).collect();
        // Where an entry is a link, what it leads to.
        let targets: Vec<OsString> = kept.iter().filter_map(|path| Some(path.canonicalize().ok()?.into())).collect();
        kept.extend(places.iter().flat_map(|place| entries_named(&place.usual, &targets)));
        kept.extend(plan.keeps.iter().cloned());
        kept.retain(|path| path.symlink_metadata().is_ok());
        kept.sort_unstable();
        kept.dedup();
        kept
    }
}

/// How one attempt is held.
pub(crate) struct Enclosed {
    pub(crate) mechanism: Mechanism,
    pub(crate) enclosure: Enclosure,
    /// HOME, where it is another than the user's.
    home: Option<PathBuf>,
}

impl Enclosed {
    /// Where on this side what the program takes for the folder of a transcript really is.
    pub(super) fn place_of(&self, transcript: &Transcript, private: &PrivateFolder) -> PathBuf {
        let Transcript { folder, in_home, .. } = transcript;
        if folder.starts_with(private.path()) {
            return folder.clone();
        }
        if let (Some(home), Some(in_home)) = (&self.home, in_home) {
            return home.join(in_home);
        }
        let mut over = self.enclosure.places.iter().filter(|place| place.usual == *folder);
        over.next().map_or_else(|| folder.clone(), |place| place.private.clone())
    }
}

/// Gives the program a temporary folder, unless it has got one of its own already.
fn own_temporary_folder(private: &PrivateFolder, plan: &mut ProcessPlan) -> io::Result<()> {
    let own = private.path();
    if !plan.env.iter().any(|(name, value)| name == "TMPDIR" && Path::new(value).starts_with(own)) {
        let temporary = own.join("tmp");
        make(&temporary, Mode::RWXU)?;
        set(&mut plan.env, "TMPDIR", &temporary);
    }
    Ok(())
}

fn make(path: &Path, mode: Mode) -> io::Result<()> {
    fs::create_private_dir(path)?;
    // Whatever the umask takes away.
    Ok(rustix::fs::chmod(path, mode)?)
}

fn set(environment: &mut Vec<(OsString, OsString)>, name: &str, value: &Path) {
    environment.retain(|(present, _)| present != name);
    environment.push((name.into(), value.into()));
}

/// The session's own folder and every folder of sessions that exists, the outermost ones. One that holds `needed` (the
/// user's HOME, the current folder) cannot be hidden as a whole: of such a one, what looks like a session is.
fn hidden(bases: &[PathBuf], session: &Path, needed: &[Option<&Path>]) -> Vec<PathBuf> {
    let needed: Vec<PathBuf> = needed.iter().flatten().filter_map(|path| path.canonicalize().ok()).collect();
    let mut found: Vec<PathBuf> = session.canonicalize().into_iter().collect();
    for base in bases.iter().filter_map(|base| base.canonicalize().ok()) {
        if !needed.iter().any(|needed| needed.starts_with(&base)) {
            found.push(base);
            continue;
        }
        let entries = std::fs::read_dir(&base).into_iter().flatten().flatten().map(|entry| entry.path());
        found.extend(entries.filter(|path| {
            let layout = Layout::new(path);
            !path.is_symlink() && (layout.manifest().exists() || layout.meta().exists())
        }));
    }
    outermost(found)
}

/// Without what is inside another.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort_unstable();
    paths.dedup_by(|inner, outer| inner.starts_with(&*outer));
    paths
}

/// The entries of `folder` whose paths are in one of the texts.
fn entries_named(folder: &Path, texts: &[OsString]) -> Vec<PathBuf> {
    let mut beginning = folder.as_os_str().as_bytes().to_vec();
    beginning.push(b'/');
    let mut found = Vec::new();
    for text in texts.iter().map(|text| text.as_bytes()) {
        for at in memmem::find_iter(text, &beginning) {
            let rest = &text[at + beginning.len()..];
            let end = rest.iter().position(|byte| AFTER_PATH.contains(byte)).unwrap_or(rest.len());
            if !matches!(&rest[..end], b"" | b"." | b"..") {
                found.push(folder.join(OsStr::from_bytes(&rest[..end])));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_in_lists_of_paths_in_scripts_and_after_an_equals_sign() {
        let texts =
            ["/usr/bin:/tmp/a/bin:/tmp/b", "--config=/tmp/c/x", ". '/tmp/d'; cat /tmp/e", "/tmp/", "/tmp/../etc"];
        let texts: Vec<OsString> = texts.iter().map(Into::into).collect();
        let expected: Vec<PathBuf> =
            ["a", "b", "c", "d", "e"].iter().map(|name| Path::new("/tmp").join(name)).collect();
        assert_eq!(entries_named(Path::new("/tmp"), &texts), expected);
    }

    #[test]
    fn the_folder_of_sessions_is_hidden_as_a_whole_and_with_it_every_session() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let base = root.join("project/ai-docs/sessions");
        fs::create_dir_all(&base.join("one/work")).unwrap();
        let elsewhere = root.join("moved");
        fs::create_dir_all(&elsewhere).unwrap();
        let project = root.join("project");
        let hide = |session: &Path| hidden(&[base.clone(), root.join("absent")], session, &[Some(project.as_path())]);
        assert_eq!(hide(&base.join("one")), std::slice::from_ref(&base));
        assert_eq!(hide(&elsewhere), [elsewhere.as_path(), base.as_path()]);
    }

    #[test]
    fn of_a_folder_that_the_user_needs_only_the_sessions_in_it_are_hidden() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        for (name, file) in [("run", "manifest.json"), ("other", "session-meta.json"), ("photos", "a.jpg")] {
            fs::create_dir_all(&root.join(name)).unwrap();
            fs::create_exclusive(&root.join(name).join(file)).unwrap();
        }
        let found = hidden(std::slice::from_ref(&root), &root.join("run"), &[Some(root.as_path())]);
        assert_eq!(found, [root.join("other"), root.join("run")]);
    }
}
