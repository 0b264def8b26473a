//! One test's own world.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, StatVfs, StatVfsMountFlags, access, statvfs};
use tempfile::TempDir;

use super::processes::{belonging_to, with_signals};
use super::{Background, DEADLINE, Session, TeamToml, Terminal, wait_until};

/// Nobody's id, and not the overflow id, which a user namespace shows for everybody it does not know.
const ORDINARY_USER: u32 = 23_571;

/// Where the system's own tools are.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Where worlds are made: in memory where the system has a folder there and enough of it is free, for a disk is much of
/// what a test would wait for. `TMPDIR` chooses another place. Real programs have sandboxes of their own that show none of
/// what lies below `/dev`, so with them worlds are made where anybody's projects are.
fn place() -> PathBuf {
    const ENOUGH: u64 = 2 << 30;
    let memory = PathBuf::from("/dev/shm");
    let is_chosen = std::env::var_os("TMPDIR").is_some_and(|folder| !folder.is_empty());
    let serves = |found: StatVfs| {
        !found.f_flag.contains(StatVfsMountFlags::NOEXEC) && found.f_bavail.saturating_mul(found.f_frsize) >= ENOUGH
    };
    if !is_chosen
        && !cfg!(feature = "installed-suites")
        && statvfs(&memory).is_ok_and(serves)
        && access(&memory, Access::WRITE_OK).is_ok()
    {
        return memory;
    }
    std::env::temp_dir()
}

/// A home, a temporary folder, a project to run in, and nothing of the caller's environment.
///
/// When it is dropped, no process that it started may be left.
#[derive(Debug)]
pub(crate) struct TestEnv {
    root: TempDir,
    variables: Vec<(String, String)>,
    started: Cell<usize>,
}

impl TestEnv {
    pub(crate) fn new() -> Self {
        with_signals();
        let root = tempfile::Builder::new().prefix("team-test-").tempdir_in(place()).unwrap();
        for dir in ["home", "tmp", "project", "config", "cache", "data", "state", "runtime", "output"] {
            std::fs::create_dir(root.path().join(dir)).unwrap();
        }
        Self { root, variables: Vec::new(), started: Cell::new(0) }
    }

    /// A world with this `team.toml`.
    pub(crate) fn with(config: &TeamToml) -> Self {
        let env = Self::new();
        env.write("team.toml", config.text());
        env
    }

    /// Sets a variable for every later command.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Makes `name` a program that is found: a shell script. A child writes it, so that no test has it open for writing.
    pub(crate) fn program(self, name: &str, script: &str) -> Self {
        let folder = self.path("bin");
        let path = folder.join(name);
        let write = "mkdir -p \"$1\" && printf '%s' \"$3\" > \"$2\" && chmod 755 \"$2\"";
        let arguments = [folder.as_os_str(), path.as_os_str(), script.as_ref()];
        assert!(Command::new("sh").args(["-c", write, "sh"]).args(arguments).status().unwrap().success());
        let agents = Path::new(env!("CARGO_BIN_EXE_fake-agent")).parent().unwrap();
        let path = format!("{}:{}:/usr/bin:/bin", folder.display(), agents.display());
        self.set("PATH", &path)
    }

    /// The folder that commands run in.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The program, to be run to its end.
    pub(crate) fn team(&self, arguments: &[&str]) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::from_std(self.command(arguments));
        command.timeout(2 * DEADLINE);
        command
    }

    /// The same under a limit of open files, soft and hard.
    pub(crate) fn team_with_descriptors(&self, limit: u32, arguments: &[&str]) -> assert_cmd::Command {
        let team = self.command(arguments);
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n \"$1\" && shift && exec \"$@\"", "sh", &limit.to_string()]);
        command.arg(team.get_program()).args(team.get_args()).current_dir(self.project()).env_clear();
        command.envs(team.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut command = assert_cmd::Command::from_std(command);
        command.timeout(2 * DEADLINE);
        command
    }

    /// Starts the program and goes on.
    pub(crate) fn start(&self, arguments: &[&str]) -> Background {
        self.start_under(&[], arguments)
    }

    /// The same below another program (`nohup`, `prlimit ..`), which must become it by `exec`.
    pub(crate) fn start_under(&self, wrapper: &[&str], arguments: &[&str]) -> Background {
        let number = self.started.replace(self.started.get() + 1);
        let output = |name: &str| self.root.path().join("output").join(format!("{number}.{name}"));
        Background::start(self.command_under(wrapper, arguments), output("stdout"), output("stderr"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.command_under(&[], arguments)
    }

    /// Makes this world one of an ordinary user, whom a folder's mode binds, and gives the wrapper that becomes this
    /// user and the program as that user finds it. Where the tests run as one, nothing changes.
    pub(crate) fn of_ordinary_user(&self) -> Vec<String> {
        if !nix::unistd::geteuid().is_root() {
            return Vec::new();
        }
        // The build directory may be out of that user's reach.
        let programs = self.root.path().join("programs");
        std::fs::create_dir(&programs).unwrap();
        for program in [env!("CARGO_BIN_EXE_team"), env!("CARGO_BIN_EXE_fake-agent")] {
            let to = programs.join(Path::new(program).file_name().unwrap());
            if std::fs::hard_link(program, &to).is_err() {
                std::fs::copy(program, &to).unwrap();
            }
        }
        let config = std::fs::read_to_string(self.path("team.toml")).unwrap();
        let agent = programs.join("fake-agent").display().to_string();
        self.write("team.toml", config.replace(env!("CARGO_BIN_EXE_fake-agent"), &agent));
        let user = ORDINARY_USER.to_string();
        let owned = Command::new("chown").args(["-R", &user]).arg(self.root.path()).status().unwrap();
        assert!(owned.success());
        let id = |name: &str| format!("--{name}={user}");
        let team = programs.join("team").display().to_string();
        ["setpriv".to_owned(), id("reuid"), id("regid"), "--clear-groups".to_owned(), "--".to_owned()]
            .into_iter()
            .chain(["sh".to_owned(), "-c".to_owned(), format!("shift; exec '{team}' \"$@\""), "sh".to_owned()])
            .collect()
    }

    /// The program below `wrapper`, in this world.
    pub(crate) fn command_under(&self, wrapper: &[&str], arguments: &[&str]) -> Command {
        let mut words = wrapper.iter().copied().chain([env!("CARGO_BIN_EXE_team")]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(arguments);
        self.surround(&mut command);
        command
    }

    /// An interactive shell in this world, in the foreground of a terminal of its own.
    pub(crate) fn terminal(&self, columns: u16, rows: u16) -> Terminal {
        let mut command = Command::new("setsid");
        command.args(["--ctty", "bash", "--norc", "--noprofile", "--noediting", "-i"]);
        self.surround(&mut command);
        let team = Path::new(env!("CARGO_BIN_EXE_team")).parent().unwrap().display();
        command.env("PATH", format!("{team}:{SYSTEM_PATH}")).env("PS1", "$ ").env("TERM", "xterm-256color");
        Terminal::start(command, columns, rows)
    }

    fn surround(&self, command: &mut Command) {
        let dir = |name: &str| self.root.path().join(name);
        let agents = Path::new(env!("CARGO_BIN_EXE_fake-agent")).parent().unwrap().display();
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", format!("{agents}:{SYSTEM_PATH}"))
            .env("HOME", dir("home"))
            .env("TMPDIR", dir("tmp"))
            .env("XDG_CONFIG_HOME", dir("config"))
            .env("XDG_CACHE_HOME", dir("cache"))
            .env("XDG_DATA_HOME", dir("data"))
            .env("XDG_STATE_HOME", dir("state"))
            .env("XDG_RUNTIME_DIR", dir("runtime"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            // A proxy of the machine must not come between the program and loopback servers.
            .env("NO_PROXY", "127.0.0.1,localhost")
            // Scripted servers say what they are asked for; the tests of looking names up set it to `false`.
            .env("TEAM_OFFLINE", "true")
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
    }

    /// Every session, in the order of their names.
    pub(crate) fn sessions(&self) -> Vec<Session> {
        let Ok(entries) = std::fs::read_dir(self.path("ai-docs/sessions")) else { return Vec::new() };
        let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
        dirs.sort();
        dirs.into_iter().map(Session::at).collect()
    }

    /// The only session there is.
    #[track_caller]
    pub(crate) fn session(&self) -> Session {
        let mut sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions.remove(0)
    }

    /// Waits until a session has this file.
    #[track_caller]
    pub(crate) fn session_with(&self, file: &str) -> Session {
        wait_until(file, || self.sessions().into_iter().find(|session| session.has(file)))
    }

    /// Waits for the process id that a fake agent wrote with `pid`.
    #[track_caller]
    pub(crate) fn pid_in(&self, file: &Path) -> u32 {
        wait_until("a process id", || std::fs::read_to_string(file).ok()?.parse().ok())
    }

    /// The processes of this world that live now.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        belonging_to(self.root.path())
    }

    /// Waits until no process of this world lives.
    #[track_caller]
    pub(crate) fn wait_for_no_processes(&self) {
        wait_until("the last process's end", || self.processes().is_empty().then_some(()));
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        let left = self.processes();
        for (pid, _) in &left {
            // A leak in one test must not slow the others down.
            let _ = nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(i32::try_from(*pid).unwrap()),
                nix::sys::signal::Signal::SIGKILL,
            );
        }
        if !std::thread::panicking() {
            assert!(left.is_empty(), "left running: {left:?}");
        }
    }
}
