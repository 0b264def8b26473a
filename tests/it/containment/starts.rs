//! An agent gets exactly what was asked for, sees nothing of its neighbours, and its end is reported as it was.

use std::os::unix::fs::PermissionsExt;

use fs_err as fs;
use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use team::isolation::{Mechanism, Preference, probe};
use team::runner::process::{Outcome, ProcessSpec, SpawnError};

use super::place::*;

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
fn the_self_test_chooses_the_strongest_mechanism_that_works() {
    let found = probe(Preference::Strongest, Some(&supervisor()));
    assert_eq!(found.mechanism, mechanisms()[0]);
    let (last, refused) = found.attempts.split_last().unwrap();
    assert_eq!((last.mechanism, last.refused), (found.mechanism, None));
    assert!(refused.iter().all(|attempt| attempt.refused.is_some()), "{found:?}");
    assert_eq!(probe(Preference::None, Some(&supervisor())).mechanism, Mechanism::TreeWalk);
}
