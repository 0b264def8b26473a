//! Where an agent of a test runs, what it prints, and what `/proc` says about it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fs_err as fs;
use nix::unistd::geteuid;
use team::isolation::{Mechanism, try_mechanism};
use team::runner::process::{Controller, ProcessEnd, ProcessSink, ProcessSpec, control, run};
use tempfile::TempDir;

/// What a process of this machine may at most need for anything these tests wait for.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// Names the executable where the built one is out of an ordinary user's reach.
pub(super) const SUPERVISOR_VARIABLE: &str = "TEAM_TEST_SUPERVISOR";

pub(super) fn supervisor() -> PathBuf {
    std::env::var_os(SUPERVISOR_VARIABLE).map_or_else(|| env!("CARGO_BIN_EXE_team").into(), PathBuf::from)
}

/// The mechanisms that work here.
pub(super) fn mechanisms() -> Vec<Mechanism> {
    let mut all = vec![Mechanism::Namespaces { user: true }, Mechanism::Landlock, Mechanism::TreeWalk];
    if geteuid().is_root() {
        all.insert(0, Mechanism::Namespaces { user: false });
    }
    let mut refused = Vec::new();
    all.retain(|mechanism| {
        try_mechanism(*mechanism, Some(&supervisor())).inspect_err(|error| refused.push(*error)).is_ok()
    });
    assert!(all.contains(&Mechanism::TreeWalk), "the tree walk works everywhere, but: {refused:?}");
    all
}

pub(super) fn is_namespace(mechanism: Mechanism) -> bool {
    matches!(mechanism, Mechanism::Namespaces { .. })
}

/// Polls until `done`, and fails with `what` when it never is.
pub(super) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < limit, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// A working directory whose path is in the environment of everything the agent starts.
pub(super) struct Place {
    pub(super) dir: TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(super) fn spec(&self, argv: &[&str], mechanism: Mechanism) -> ProcessSpec {
        let mut spec = ProcessSpec::new(argv.iter().map(OsString::from).collect(), self.path().to_owned(), mechanism);
        spec.environment = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("PLACE".into(), self.path().as_os_str().to_owned()),
        ];
        spec.supervisor = Some(supervisor());
        spec
    }

    pub(super) fn shell(&self, script: &str, mechanism: Mechanism) -> ProcessSpec {
        self.spec(&["sh", "-c", script], mechanism)
    }

    /// The living processes that were started from here.
    pub(super) fn processes(&self) -> Vec<(i32, char)> {
        let marker = format!("PLACE={}\0", self.path().display());
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter_map(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
                let found = environment.windows(marker.len()).any(|part| part == marker.as_bytes());
                found.then(|| (pid, state(pid).unwrap_or('X')))
            })
            .collect()
    }

    pub(super) fn assert_nothing_left(&self, mechanism: Mechanism) {
        let left = self.processes();
        assert!(left.is_empty(), "{mechanism}: left behind: {left:?}");
    }
}

pub(super) fn stat_fields(pid: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let rest = &stat[stat.rfind(')')? + 2..];
    Some(rest.split(' ').map(str::to_owned).collect())
}

pub(super) fn state(pid: i32) -> Option<char> {
    stat_fields(pid)?[0].chars().next()
}

pub(super) fn parent(pid: i32) -> i32 {
    stat_fields(pid).map_or(0, |fields| fields[1].parse().unwrap())
}

/// The stages above an agent: init and outer.
pub(super) fn stages_above(place: &Place) -> (i32, i32) {
    let (agent, _) = place.processes().into_iter().min_by_key(|(pid, _)| started(*pid)).unwrap();
    let init = parent(agent);
    let outer = parent(init);
    for (pid, name) in [(init, "__init"), (outer, "__exec")] {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        assert_eq!(line, format!("team\0{name}\0").as_bytes());
    }
    (init, outer)
}

pub(super) fn started(pid: i32) -> u64 {
    stat_fields(pid).map_or(u64::MAX, |fields| fields[19].parse().unwrap())
}

/// What an agent printed.
#[derive(Default)]
pub(super) struct Printed {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Keeps what is printed; the answer is complete when it ends with `complete`.
#[derive(Default, Clone)]
pub(super) struct Recorder {
    pub(super) printed: Arc<Mutex<Printed>>,
    pub(super) complete: Option<&'static str>,
    pub(super) full_after: Option<usize>,
}

impl Recorder {
    pub(super) fn stdout_text(&self) -> String {
        String::from_utf8(self.printed.lock().unwrap().stdout.clone()).unwrap()
    }

    pub(super) fn stderr_text(&self) -> String {
        String::from_utf8(self.printed.lock().unwrap().stderr.clone()).unwrap()
    }

    pub(super) fn stdout_length(&self) -> usize {
        self.printed.lock().unwrap().stdout.len()
    }
}

impl ProcessSink for Recorder {
    fn stdout(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut printed = self.printed.lock().unwrap();
        if self.full_after.is_some_and(|full| printed.stdout.len() + bytes.len() > full) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        printed.stdout.extend_from_slice(bytes);
        Ok(())
    }

    fn stderr(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.printed.lock().unwrap().stderr.extend_from_slice(bytes);
        Ok(())
    }

    fn answer_complete(&self) -> bool {
        let printed = self.printed.lock().unwrap();
        self.complete.is_some_and(|complete| printed.stdout.ends_with(complete.as_bytes()))
    }
}

/// A process that runs on a runtime of its own while the test looks at it.
pub(super) struct Background {
    pub(super) controller: Controller,
    pub(super) recorder: Recorder,
    pub(super) runtime: tokio::runtime::Runtime,
    pub(super) task: tokio::task::JoinHandle<ProcessEnd>,
}

impl Background {
    pub(super) fn start(spec: ProcessSpec, recorder: Recorder) -> Self {
        let (controller, listener) = control();
        let runtime = runtime();
        let mut sink = recorder.clone();
        let task = runtime.spawn(async move { run(&spec, &mut sink, listener).await });
        Self { controller, recorder, runtime, task }
    }

    pub(super) fn end(self) -> ProcessEnd {
        self.runtime.block_on(async { tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap() })
    }
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Runs to the end.
pub(super) fn finish(spec: ProcessSpec, recorder: &Recorder) -> ProcessEnd {
    Background::start(spec, recorder.clone()).end()
}

pub(super) fn escapees_run(place: &Place) -> bool {
    ["session", "group", "stubborn"].iter().all(|name| place.file(name).exists())
}

/// Starts a tool in a session of its own, one in a group of its own, and one that ignores TERM, none of which holds
/// the pipes, and goes on when all of them run.
pub(super) const ESCAPEES: &str = r#"
    setsid sh -c 'trap "" TERM; : > "$PLACE/session"; while :; do sleep 1; done' > /dev/null 2>&1 < /dev/null &
    perl -e 'setpgrp(0, 0); open(F, ">", "$ENV{PLACE}/group"); close F; sleep 1000' > /dev/null 2>&1 &
    (trap "" TERM; : > "$PLACE/stubborn"; while :; do sleep 1; done) > /dev/null 2>&1 &
    for name in session group stubborn; do until [ -e "$PLACE/$name" ]; do sleep 0.01; done; done
"#;
