//! Agents are started exactly as asked, and nothing they start survives them.
//!
//! Every case runs with every mechanism that works here; one test runs the whole list again as an ordinary user.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fs_err as fs;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use team::isolation::{Mechanism, Preference, probe, try_mechanism};
use team::runner::process::{
    Control, Controller, Outcome, ProcessEnd, ProcessSink, ProcessSpec, SpawnError, Stop, control, run,
};
use tempfile::TempDir;

/// What a process of this machine may at most need for anything these tests wait for.
const PATIENCE: Duration = Duration::from_secs(30);
/// An ordinary user's id; not the overflow id, which a user namespace shows for everybody it does not know.
const ORDINARY: u32 = 23_571;
/// Names the executable where the built one is out of an ordinary user's reach.
const SUPERVISOR_VARIABLE: &str = "TEAM_TEST_SUPERVISOR";
/// What [`driver`] is to do.
const SCENARIO_VARIABLE: &str = "TEAM_TEST_SCENARIO";

fn supervisor() -> PathBuf {
    std::env::var_os(SUPERVISOR_VARIABLE).map_or_else(|| env!("CARGO_BIN_EXE_team").into(), PathBuf::from)
}

/// The mechanisms that work here.
fn mechanisms() -> Vec<Mechanism> {
    let mut all = vec![Mechanism::PidNamespace { user: true }, Mechanism::TreeWalk];
    if geteuid().is_root() {
        all.insert(0, Mechanism::PidNamespace { user: false });
    }
    let mut refused = Vec::new();
    all.retain(|mechanism| {
        try_mechanism(*mechanism, Some(&supervisor())).inspect_err(|error| refused.push(*error)).is_ok()
    });
    assert!(all.contains(&Mechanism::TreeWalk), "the tree walk works everywhere, but: {refused:?}");
    all
}

fn is_namespace(mechanism: Mechanism) -> bool {
    matches!(mechanism, Mechanism::PidNamespace { .. })
}

/// Polls until `done`, and fails with `what` when it never is.
fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < limit, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// A working directory whose path is in the environment of everything the agent starts.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn spec(&self, argv: &[&str], mechanism: Mechanism) -> ProcessSpec {
        let mut spec = ProcessSpec::new(argv.iter().map(OsString::from).collect(), self.path().to_owned(), mechanism);
        spec.environment = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("PLACE".into(), self.path().as_os_str().to_owned()),
        ];
        spec.supervisor = Some(supervisor());
        spec
    }

    fn shell(&self, script: &str, mechanism: Mechanism) -> ProcessSpec {
        self.spec(&["sh", "-c", script], mechanism)
    }

    /// The living processes that were started from here.
    fn processes(&self) -> Vec<(i32, char)> {
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

    fn assert_nothing_left(&self, mechanism: Mechanism) {
        let left = self.processes();
        assert!(left.is_empty(), "{mechanism}: left behind: {left:?}");
    }
}

fn stat_fields(pid: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let rest = &stat[stat.rfind(')')? + 2..];
    Some(rest.split(' ').map(str::to_owned).collect())
}

fn state(pid: i32) -> Option<char> {
    stat_fields(pid)?[0].chars().next()
}

fn parent(pid: i32) -> i32 {
    stat_fields(pid).map_or(0, |fields| fields[1].parse().unwrap())
}

/// The stages above an agent: init and outer.
fn stages_above(place: &Place) -> (i32, i32) {
    let (agent, _) = place.processes().into_iter().min_by_key(|(pid, _)| started(*pid)).unwrap();
    let init = parent(agent);
    let outer = parent(init);
    for (pid, name) in [(init, "__init"), (outer, "__exec")] {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        assert_eq!(line, format!("team\0{name}\0").as_bytes());
    }
    (init, outer)
}

fn started(pid: i32) -> u64 {
    stat_fields(pid).map_or(u64::MAX, |fields| fields[19].parse().unwrap())
}

/// What an agent printed.
#[derive(Default)]
struct Printed {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Keeps what is printed; the answer is complete when it ends with `complete`.
#[derive(Default, Clone)]
struct Recorder {
    printed: Arc<Mutex<Printed>>,
    complete: Option<&'static str>,
    full_after: Option<usize>,
}

impl Recorder {
    fn stdout_text(&self) -> String {
        String::from_utf8(self.printed.lock().unwrap().stdout.clone()).unwrap()
    }

    fn stderr_text(&self) -> String {
        String::from_utf8(self.printed.lock().unwrap().stderr.clone()).unwrap()
    }

    fn stdout_length(&self) -> usize {
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
struct Background {
    controller: Controller,
    recorder: Recorder,
    runtime: tokio::runtime::Runtime,
    task: tokio::task::JoinHandle<ProcessEnd>,
}

impl Background {
    fn start(spec: ProcessSpec, recorder: Recorder) -> Self {
        let (controller, listener) = control();
        let runtime = runtime();
        let mut sink = recorder.clone();
        let task = runtime.spawn(async move { run(&spec, &mut sink, listener).await });
        Self { controller, recorder, runtime, task }
    }

    fn end(self) -> ProcessEnd {
        self.runtime.block_on(async { tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap() })
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

fn never() -> Control {
    control().1
}

/// Runs to the end.
fn finish(spec: ProcessSpec, recorder: &Recorder) -> ProcessEnd {
    Background::start(spec, recorder.clone()).end()
}

/// Starts a tool in a session of its own, one in a group of its own, and one that ignores TERM, none of which holds
/// the pipes, and goes on when all of them run.
const ESCAPEES: &str = r#"
    setsid sh -c 'trap "" TERM; : > "$PLACE/session"; while :; do sleep 1; done' > /dev/null 2>&1 < /dev/null &
    perl -e 'setpgrp(0, 0); open(F, ">", "$ENV{PLACE}/group"); close F; sleep 1000' > /dev/null 2>&1 &
    (trap "" TERM; : > "$PLACE/stubborn"; while :; do sleep 1; done) > /dev/null 2>&1 &
    for name in session group stubborn; do until [ -e "$PLACE/$name" ]; do sleep 0.01; done; done
"#;

fn escapees_run(place: &Place) -> bool {
    ["session", "group", "stubborn"].iter().all(|name| place.file(name).exists())
}

#[test]
fn exit_codes_and_signals_pass_exactly() {
    for mechanism in mechanisms() {
        for code in [0, 1, 7, 125, 126, 127, 130, 137, 255] {
            let place = Place::new();
            let end = finish(place.shell(&format!("exit {code}"), mechanism), &Recorder::default());
            assert_eq!(end.exit_code(), Some(code), "{mechanism}: {end:?}");
            assert_eq!((end.stopped, end.drained, end.leftovers, end.lingered), (None, true, 0, false), "{mechanism}");
        }
        for signal in [1, 9, 11, 13, 15, 34] {
            let place = Place::new();
            let end = finish(
                place.spec(&["perl", "-e", &format!("kill {signal}, $$; sleep 100")], mechanism),
                &Recorder::default(),
            );
            assert_eq!(end.signal(), Some(signal), "{mechanism}: {end:?}");
            assert_eq!(end.exit_code(), None);
        }
    }
}

#[test]
fn both_streams_arrive_whole_and_apart() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let script = "i=0; while [ $i -lt 3000 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done";
        let end = finish(place.shell(script, mechanism), &recorder);
        assert_eq!(end.exit_code(), Some(0), "{mechanism}: {end:?}");
        let lines = |name: &str| (0..3000).map(|i| format!("{name}{i}\n")).collect::<String>();
        assert_eq!(recorder.stdout_text(), lines("out"), "{mechanism}");
        assert_eq!(recorder.stderr_text(), lines("err"), "{mechanism}");
    }
}

#[test]
fn standard_input_is_the_whole_file_and_then_at_its_end() {
    for mechanism in mechanisms() {
        for size in [0, 1, 300_000, 5_000_000] {
            let (place, recorder) = (Place::new(), Recorder::default());
            let input: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
            fs::write(place.file("input.md"), &input).unwrap();
            let mut spec = place.spec(&["cat"], mechanism);
            spec.input = Some(place.file("input.md"));
            let end = finish(spec, &recorder);
            assert_eq!(end.exit_code(), Some(0), "{mechanism}: {end:?}");
            assert!(recorder.printed.lock().unwrap().stdout == input, "{mechanism}: {size} bytes came out changed");
        }
    }
}

#[test]
fn without_an_input_file_standard_input_is_empty() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        assert_eq!(finish(place.spec(&["cat"], mechanism), &recorder).exit_code(), Some(0), "{mechanism}");
        assert_eq!(recorder.stdout_text(), "");
    }
}

#[test]
fn the_input_cannot_be_written_through_standard_input() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        fs::write(place.file("input.md"), "the question").unwrap();
        let mut spec = place.shell("echo changed >&0", mechanism);
        spec.input = Some(place.file("input.md"));
        assert_ne!(finish(spec, &recorder).exit_code(), Some(0), "{mechanism}");
        assert_eq!(fs::read_to_string(place.file("input.md")).unwrap(), "the question");
    }
}

#[test]
fn the_environment_is_what_was_asked_for_and_pwd() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let mut spec = place.spec(&["env"], mechanism);
        spec.environment.push(("PWD".into(), "elsewhere".into()));
        spec.environment.push(("ODD".into(), "a=b c".into()));
        let mut expected: Vec<String> = spec
            .environment
            .iter()
            .filter(|(name, _)| name != "PWD")
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .chain([format!("PWD={}", place.path().display())])
            .collect();
        let _ = finish(spec, &recorder);
        let text = recorder.stdout_text();
        let mut seen: Vec<&str> = text.lines().collect();
        seen.sort_unstable();
        expected.sort_unstable();
        assert_eq!(seen, expected, "{mechanism}");
    }
}

#[test]
fn an_agent_starts_with_default_signals_its_own_limit_and_no_other_descriptor() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let mut spec = place.spec(
            &["sh", "-c", "ulimit -n; pwd; ls /proc/self/fd | wc -l; exec grep ^Sig /proc/self/status"],
            mechanism,
        );
        spec.descriptor_limit = Some(77);
        let _ = finish(spec, &recorder);
        let text = recorder.stdout_text();
        let lines: Vec<&str> = text.lines().collect();
        let directory = fs::canonicalize(place.path()).unwrap();
        // The fourth is the directory that `ls` reads.
        assert_eq!(lines[..3], ["77", directory.to_str().unwrap(), "4"], "{mechanism}: {text}");
        let mask = |name: &str| {
            let line = lines.iter().find(|line| line.starts_with(name)).unwrap();
            u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap()
        };
        assert_eq!(mask("SigBlk"), 0, "{mechanism}");
        let (pipe, child) = (1 << (Signal::SIGPIPE as u32 - 1), 1 << (Signal::SIGCHLD as u32 - 1));
        assert_eq!(mask("SigIgn") & (pipe | child), 0, "{mechanism}");
    }
}

#[test]
fn what_cannot_be_started_is_said_by_kind() {
    for mechanism in mechanisms() {
        let place = Place::new();
        fs::write(place.file("plain"), "text").unwrap();
        fs::create_dir(place.file("folder")).unwrap();
        fs::write(place.file("orphan"), "#!/nonexistent/interpreter\n").unwrap();
        fs::set_permissions(place.file("orphan"), PermissionsExt::from_mode(0o755)).unwrap();
        let fails = |spec: ProcessSpec| match finish(spec, &Recorder::default()).outcome {
            Outcome::NotStarted(error) => error,
            other => panic!("{mechanism}: started: {other:?}"),
        };
        let program = |name: &str| place.spec(&[place.file(name).to_str().unwrap()], mechanism);

        let error = fails(place.spec(&["no-such-program-anywhere"], mechanism));
        assert!(matches!(error, SpawnError::NotFound { .. }), "{mechanism}: {error:?}");
        assert_eq!(error.to_string(), "program `no-such-program-anywhere` was not found");
        assert!(matches!(fails(program("absent")), SpawnError::NotFound { .. }), "{mechanism}");
        assert!(matches!(fails(program("orphan")), SpawnError::NotFound { .. }), "{mechanism}");
        assert!(matches!(fails(program("plain")), SpawnError::NotExecutable { .. }), "{mechanism}");
        assert!(matches!(fails(program("folder")), SpawnError::NotExecutable { .. }), "{mechanism}");
        let long = "x".repeat(3 << 20);
        assert!(matches!(fails(place.spec(&["true", &long], mechanism)), SpawnError::TooLong { .. }), "{mechanism}");
        let with_nul = place.spec(&["true", "a\0b"], mechanism);
        assert!(matches!(fails(with_nul), SpawnError::Program { .. }), "{mechanism}");
        let mut spec = place.spec(&["true"], mechanism);
        spec.directory = place.file("nowhere");
        assert!(matches!(fails(spec), SpawnError::Directory { .. }), "{mechanism}");
        let mut spec = place.spec(&["true"], mechanism);
        spec.input = Some(place.file("no-input"));
        assert!(matches!(fails(spec), SpawnError::Input { .. }), "{mechanism}");
        let mut spec = place.spec(&["true"], mechanism);
        spec.supervisor = Some(place.file("no-team"));
        assert!(matches!(fails(spec), SpawnError::Supervisor { .. }), "{mechanism}");
    }
}

#[test]
fn a_polite_process_ends_by_itself_within_the_grace() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let script = "trap 'echo last words; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
        let process = Background::start(place.shell(script, mechanism), recorder.clone());
        wait_until("the trap", || recorder.stdout_text() == "ready\n");
        process.controller.stop(Stop::Term);
        let end = process.end();
        assert_eq!((end.exit_code(), end.stopped, end.drained), (Some(3), Some(Stop::Term), true), "{mechanism}");
        assert_eq!(recorder.stdout_text(), "ready\nlast words\n");
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn a_process_that_ignores_term_is_killed_with_all_its_escapees() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let script = format!("trap '' TERM; {ESCAPEES} while :; do sleep 0.1; done");
        let mut spec = place.shell(&script, mechanism);
        spec.grace = Duration::from_millis(50);
        let process = Background::start(spec, Recorder::default());
        wait_until("the escapees", || escapees_run(&place));
        process.controller.stop(Stop::Term);
        let end = process.end();
        assert_eq!(
            (end.signal(), end.stopped, end.drained),
            (Some(9), Some(Stop::Term), false),
            "{mechanism}: {end:?}"
        );
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn a_kill_does_not_wait_for_the_grace() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let mut spec = place.shell("trap '' TERM; echo ready; while :; do sleep 0.1; done", mechanism);
        spec.grace = PATIENCE * 10;
        let process = Background::start(spec, recorder.clone());
        wait_until("the trap", || recorder.stdout_text() == "ready\n");
        process.controller.stop(Stop::Term);
        process.controller.stop(Stop::Kill);
        let end = process.end();
        assert_eq!((end.signal(), end.stopped), (Some(9), Some(Stop::Kill)), "{mechanism}: {end:?}");
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn escapees_of_a_process_that_ends_well_are_swept_and_counted() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let end = finish(place.shell(&format!("{ESCAPEES} echo answer"), mechanism), &recorder);
        assert_eq!((end.exit_code(), end.drained, end.stopped), (Some(0), true, None), "{mechanism}: {end:?}");
        assert!(end.leftovers >= 3, "{mechanism}: {end:?}");
        assert_eq!(recorder.stdout_text(), "answer\n");
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn a_leaked_writer_cannot_hold_the_slot_open_past_the_drain_limit() {
    for mechanism in mechanisms() {
        for leak in ["while :; do echo noise; sleep 0.01; done", "sleep 1000"] {
            let (place, recorder) = (Place::new(), Recorder::default());
            let mut spec = place.shell(&format!("echo answer; ({leak}) & exit 0"), mechanism);
            spec.drain = Duration::from_millis(100);
            let end = finish(spec, &recorder);
            assert_eq!((end.exit_code(), end.drained), (Some(0), false), "{mechanism}: {end:?}");
            assert!(end.leftovers >= 1, "{mechanism}: {end:?}");
            assert!(recorder.stdout_text().starts_with("answer\n"));
            place.assert_nothing_left(mechanism);
        }
    }
}

#[test]
fn what_a_helper_writes_after_the_process_has_ended_is_kept() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let script = "(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; echo late) & echo early";
        let end = finish(place.shell(script, mechanism), &recorder);
        assert_eq!((end.exit_code(), end.drained), (Some(0), true), "{mechanism}: {end:?}");
        assert_eq!(recorder.stdout_text(), "early\nlate\n", "{mechanism}");
    }
}

#[test]
fn a_process_that_goes_on_after_its_answer_is_ended_and_the_answer_taken() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let recorder = Recorder { complete: Some("done\n"), ..Recorder::default() };
        let mut spec = place.shell("echo done; sleep 1000", mechanism);
        spec.linger = Duration::from_millis(50);
        let end = finish(spec, &recorder);
        assert!(end.lingered, "{mechanism}: {end:?}");
        assert_eq!((end.signal(), end.stopped), (Some(15), None), "{mechanism}: {end:?}");
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn after_a_complete_answer_nobody_waits_for_a_held_pipe() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let recorder = Recorder { complete: Some("done\n"), ..Recorder::default() };
        let mut spec = place.shell("sleep 1000 & echo done", mechanism);
        // Far beyond the patience of the test.
        spec.drain = PATIENCE * 10;
        let end = finish(spec, &recorder);
        assert_eq!((end.exit_code(), end.drained, end.leftovers), (Some(0), true, 1), "{mechanism}: {end:?}");
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn a_full_disk_stops_the_process_and_is_reported() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let recorder = Recorder { full_after: Some(100_000), ..Recorder::default() };
        let end = finish(place.shell("while :; do echo some more of the answer; done", mechanism), &recorder);
        assert_eq!(end.sink_error.map(|error| error.kind()), Some(io::ErrorKind::StorageFull), "{mechanism}");
        assert_eq!(end.stopped, Some(Stop::Term));
        assert!(recorder.stdout_length() <= 100_000);
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn a_pause_stops_every_process_of_the_tree_until_it_is_resumed() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let script = format!("{ESCAPEES} while :; do echo tick; sleep 0.01; done");
        let process = Background::start(place.shell(&script, mechanism), recorder.clone());
        wait_until("ticks", || recorder.stdout_length() > 0);
        process.controller.pause(true);
        wait_until("everybody to stop", || {
            let all = place.processes();
            all.len() >= 4 && all.iter().all(|(_, state)| *state == 'T')
        });
        process.controller.pause(false);
        let before = recorder.stdout_length();
        wait_until("more ticks", || recorder.stdout_length() > before + 20);
        wait_until("everybody to go on", || place.processes().iter().all(|(_, state)| *state != 'T'));
        // A stop reaches a tree that is paused.
        process.controller.pause(true);
        wait_until("everybody to stop again", || place.processes().iter().all(|(_, state)| *state == 'T'));
        process.controller.stop(Stop::Term);
        let end = process.end();
        assert_eq!((end.signal(), end.stopped), (Some(15), Some(Stop::Term)), "{mechanism}: {end:?}");
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn a_stop_asked_for_before_the_start_still_ends_it() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let (controller, listener) = control();
        controller.stop(Stop::Kill);
        let spec = place.spec(&["sleep", "1000"], mechanism);
        let end = runtime().block_on(async {
            tokio::time::timeout(PATIENCE, run(&spec, &mut Recorder::default(), listener)).await.unwrap()
        });
        assert_eq!(end.stopped, Some(Stop::Kill), "{mechanism}: {end:?}");
        place.assert_nothing_left(mechanism);
    }
}

#[test]
fn dropping_the_run_kills_the_tree() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let spec = place.shell(&format!("trap '' TERM; {ESCAPEES} sleep 1000"), mechanism);
        let process = Background::start(spec, Recorder::default());
        wait_until("the escapees", || escapees_run(&place));
        process.task.abort();
        wait_until("everybody to be gone", || place.processes().is_empty());
    }
}

#[test]
fn killing_either_supervisor_kills_the_tree() {
    for mechanism in mechanisms() {
        for victim in ["init", "outer"] {
            let place = Place::new();
            let spec = place.shell(&format!("trap '' TERM; {ESCAPEES} sleep 1000"), mechanism);
            let process = Background::start(spec, Recorder::default());
            wait_until("the escapees", || escapees_run(&place));
            let (init, outer) = stages_above(&place);
            kill(Pid::from_raw(if victim == "init" { init } else { outer }), Signal::SIGKILL).unwrap();
            let end = process.end();
            assert!(matches!(end.outcome, Outcome::Lost), "{mechanism}: {victim}: {end:?}");
            wait_until("everybody to be gone", || place.processes().is_empty());
            wait_until("init to be gone", || state(init).is_none_or(|state| state == 'Z'));
        }
    }
}

#[test]
fn a_signal_to_the_outer_supervisor_goes_to_the_agent() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let script = "trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done";
        let process = Background::start(place.shell(script, mechanism), recorder.clone());
        wait_until("the trap", || recorder.stdout_text() == "ready\n");
        kill(Pid::from_raw(stages_above(&place).1), Signal::SIGINT).unwrap();
        let end = process.end();
        assert_eq!((end.exit_code(), end.stopped), (Some(9), None), "{mechanism}: {end:?}");
    }
}

#[test]
fn a_tool_that_signals_its_own_group_or_parent_does_not_meet_its_supervisors() {
    for mechanism in mechanisms() {
        let (place, recorder) = (Place::new(), Recorder::default());
        let script = "trap '' TERM; kill -TERM $PPID 2>/dev/null; kill -TERM 0; echo still here; exit 4";
        let end = finish(place.shell(script, mechanism), &recorder);
        assert_eq!(end.exit_code(), Some(4), "{mechanism}: {end:?}");
        assert_eq!(recorder.stdout_text(), "still here\n");
    }
}

#[test]
fn killing_the_caller_leaves_nothing() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let mut caller = driver_command(&place, "escapees", mechanism).spawn().unwrap();
        wait_until("the escapees", || escapees_run(&place));
        assert!(place.processes().len() >= 4, "{mechanism}");
        caller.kill().unwrap();
        caller.wait().unwrap();
        wait_until("everybody to be gone", || place.processes().is_empty());
    }
}

#[test]
fn supervisors_show_no_part_of_what_they_run() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let script = "until [ -e go ]; do sleep 0.01; done; exit 0 # secret-argument";
        let process = Background::start(place.shell(script, mechanism), Recorder::default());
        wait_until("the agent", || place.processes().iter().any(|(pid, _)| parent(*pid) != 0));
        let (init, outer) = stages_above(&place);
        for pid in [init, outer] {
            // Out of an ordinary user's reach, empty for root.
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            assert!(environment.is_empty(), "{mechanism}: {}", String::from_utf8_lossy(&environment));
        }
        fs::write(place.file("go"), "").unwrap();
        assert_eq!(process.end().exit_code(), Some(0));
    }
}

#[test]
fn an_agent_in_a_namespace_sees_only_itself_and_has_no_power_over_it() {
    for mechanism in mechanisms().into_iter().filter(|mechanism| is_namespace(*mechanism)) {
        let (place, recorder) = (Place::new(), Recorder::default());
        let script = "ls -d /proc/[0-9]* | wc -l; kill -9 1; ls /proc/1/fd 2>&1 | wc -l; mount -t tmpfs none /mnt 2>/dev/null && echo mounted; grep -E '^(CapPrm|CapBnd|NoNewPrivs)' /proc/self/status";
        let end = finish(place.shell(script, mechanism), &recorder);
        assert_eq!(end.exit_code(), Some(0), "{mechanism}: {end:?}");
        let text = recorder.stdout_text();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let count: u32 = lines[0][0].parse().unwrap();
        // Init, the shell, `ls` and `wc`.
        assert!(count <= 4, "{mechanism}: {text}");
        assert!(!text.contains("mounted"), "{mechanism}: {text}");
        let field = |name: &str| lines.iter().find(|line| line[0] == name).unwrap()[1];
        assert_eq!(field("NoNewPrivs:"), "1");
        // Root keeps what files need and SETFCAP, others keep nothing.
        let expected = if geteuid().is_root() { 0b1_1011 | 1 << 31 } else { 0 };
        for name in ["CapPrm:", "CapBnd:"] {
            assert_eq!(u64::from_str_radix(field(name), 16).unwrap(), expected, "{mechanism}: {name}");
        }
    }
}

#[test]
fn agents_that_run_at_the_same_time_have_different_process_ids() {
    for mechanism in mechanisms() {
        let places: Vec<Place> = (0..4).map(|_| Place::new()).collect();
        let script = "echo $$; until [ -e go ]; do sleep 0.01; done";
        let processes: Vec<_> =
            places.iter().map(|place| Background::start(place.shell(script, mechanism), Recorder::default())).collect();
        wait_until("all of them", || processes.iter().all(|process| process.recorder.stdout_length() > 0));
        let mut pids: Vec<String> = processes.iter().map(|process| process.recorder.stdout_text()).collect();
        for (place, process) in places.iter().zip(processes) {
            fs::write(place.file("go"), "").unwrap();
            assert_eq!(process.end().exit_code(), Some(0));
        }
        pids.sort_unstable();
        pids.dedup();
        assert_eq!(pids.len(), 4, "{mechanism}: {pids:?}");
    }
}

#[test]
fn a_run_leaves_no_zombie_and_no_descriptor() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let output = driver_command(&place, "tidy", mechanism).output().unwrap();
        assert!(output.status.success(), "{mechanism}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(
            fs::read_to_string(place.file("tidy")).unwrap(),
            "children 0, descriptors +0, most +4",
            "{mechanism}"
        );
    }
}

#[test]
fn a_caller_that_was_told_to_ignore_ended_children_still_learns_how_they_ended() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let driver = driver_command(&place, "code", mechanism);
        // A shell would not pass an ignored SIGCHLD on.
        let mut command = Command::new("perl");
        command
            .args(["-e", "$SIG{$_} = 'IGNORE' for qw(CHLD TERM HUP INT); exec @ARGV", "--"])
            .arg(driver.get_program())
            .args(driver.get_args());
        command.envs(driver.get_envs().filter_map(|(name, value)| Some((name, value?))));
        assert!(command.stdout(Stdio::null()).status().unwrap().success(), "{mechanism}");
        assert_eq!(fs::read_to_string(place.file("code")).unwrap(), "Exited(23)", "{mechanism}");
    }
}

#[test]
fn the_self_test_chooses_the_strongest_mechanism_that_works() {
    let found = probe(Preference::Strongest, Some(&supervisor()));
    assert_eq!(found.mechanism, mechanisms()[0]);
    let (last, refused) = found.attempts.split_last().unwrap();
    assert_eq!((last.mechanism, last.refused), (found.mechanism, None));
    assert!(refused.iter().all(|attempt| attempt.refused.is_some()), "{found:?}");
    assert_eq!(probe(Preference::None, Some(&supervisor())).mechanism, Mechanism::TreeWalk);
}

#[test]
fn a_refused_mechanism_is_recorded_with_its_step_and_the_next_one_taken() {
    let place = Place::new();
    let driver = driver_command(&place, "probe", Mechanism::TreeWalk);
    // A process that may make no namespace: an ordinary user without user namespaces would look the same.
    let mut command = Command::new(if geteuid().is_root() { "setpriv" } else { "env" });
    if geteuid().is_root() {
        command.arg("--bounding-set=-sys_admin");
    }
    command.arg(driver.get_program()).args(driver.get_args());
    command.envs(driver.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let found = fs::read_to_string(place.file("probe")).unwrap();
    if geteuid().is_root() {
        let refusal = r#"{"mechanism":"pid_namespace","user":false,"refused":{"step":"unshare","errno":1}}"#;
        assert!(found.contains(refusal), "{found}");
    } else {
        assert!(!found.contains(r#""user":false"#), "{found}");
    }
}

#[test]
fn the_whole_list_holds_for_an_ordinary_user() {
    if !geteuid().is_root() {
        // Then the other tests of this file have just been run as one.
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    // The build directory may be out of that user's reach.
    let lend = |from: &Path, name: &str| {
        let to = dir.path().join(name);
        if fs::hard_link(from, &to).is_err() {
            fs::copy(from, &to).unwrap();
        }
        to
    };
    let tests = lend(&std::env::current_exe().unwrap(), "tests");
    let team = lend(&supervisor(), "team");
    let output = Command::new(tests)
        .args(["containment::", "--test-threads=4"])
        .env(SUPERVISOR_VARIABLE, team)
        .env("HOME", "/nonexistent")
        .current_dir("/")
        .uid(ORDINARY)
        .gid(ORDINARY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("killing_the_caller_leaves_nothing ... ok"), "{text}");
}

/// This test binary, as a program that plays `team`.
fn driver_command(place: &Place, scenario: &str, mechanism: Mechanism) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "containment::driver", "--ignored", "--nocapture"]);
    command.env(SCENARIO_VARIABLE, format!("{scenario} {mechanism} {}", place.path().display()));
    command.env(SUPERVISOR_VARIABLE, supervisor()).stdout(Stdio::null());
    command
}

/// Not a test: what [`driver_command`] runs, in a process that can be killed or looked at as a whole.
#[test]
#[ignore = "played by other tests"]
fn driver() {
    let Ok(task) = std::env::var(SCENARIO_VARIABLE) else { return };
    let (scenario, rest) = task.split_once(' ').unwrap();
    let mechanism =
        [Mechanism::PidNamespace { user: false }, Mechanism::PidNamespace { user: true }, Mechanism::TreeWalk]
            .into_iter()
            .find(|mechanism| rest.starts_with(&format!("{mechanism} /")))
            .unwrap();
    let folder = PathBuf::from(&rest[mechanism.to_string().len() + 1..]);
    let shell = |script: &str| {
        let argv = ["sh", "-c", script].map(OsString::from).to_vec();
        let mut spec = ProcessSpec::new(argv, folder.clone(), mechanism);
        spec.environment =
            vec![("PATH".into(), std::env::var_os("PATH").unwrap()), ("PLACE".into(), folder.clone().into())];
        spec.supervisor = Some(supervisor());
        spec
    };
    let runtime = runtime();
    let go = |spec: ProcessSpec| {
        // On a worker thread, as the runner does it.
        let task = runtime.spawn(async move { run(&spec, &mut Recorder::default(), never()).await });
        runtime.block_on(task).unwrap()
    };
    match scenario {
        "escapees" => {
            let _ = go(shell(&format!("trap '' TERM; {ESCAPEES} sleep 1000")));
        }
        "code" => fs::write(folder.join("code"), format!("{:?}", go(shell("exit 23")).outcome)).unwrap(),
        "probe" => {
            let found = probe(Preference::Strongest, Some(&supervisor()));
            fs::write(folder.join("probe"), serde_json::to_string(&found).unwrap()).unwrap();
        }
        "tidy" => {
            let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
            // What the runtime itself opens on first use.
            let _ = go(shell("exit 0"));
            let before = descriptors();
            let spec = shell(": > started; until [ -e go ]; do sleep 0.01; done");
            let task = runtime.spawn(async move { run(&spec, &mut Recorder::default(), never()).await });
            wait_until("the agent", || folder.join("started").exists());
            let most = descriptors() - before;
            fs::write(folder.join("go"), "").unwrap();
            assert_eq!(runtime.block_on(task).unwrap().exit_code(), Some(0));
            for _ in 0..5 {
                let _ = go(shell("setsid sleep 1000 > /dev/null 2>&1 & exit 0"));
                let _ = go(shell("exec /nonexistent"));
            }
            let own = i32::try_from(std::process::id()).unwrap();
            let children = fs::read_dir("/proc")
                .unwrap()
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
                .filter(|pid| parent(*pid) == own)
                .count();
            let text = format!("children {children}, descriptors +{}, most +{most}", descriptors() - before);
            fs::write(folder.join("tidy"), text).unwrap();
        }
        other => panic!("unknown scenario `{other}`"),
    }
}
