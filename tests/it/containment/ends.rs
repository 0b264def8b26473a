//! However an agent ends, nothing it started goes on, and what it wrote is kept.

use std::io;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use team::runner::process::{Outcome, Stop, control, run};

use super::place::*;

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
        // A shell that was stopped between vfork and exec of its child waits for the child, not for a signal.
        let all_stopped = || place.processes().iter().all(|(_, state)| matches!(state, 'T' | 'D'));
        wait_until("everybody to stop", || place.processes().len() >= 4 && all_stopped());
        process.controller.pause(false);
        let before = recorder.stdout_length();
        wait_until("more ticks", || recorder.stdout_length() > before + 20);
        wait_until("everybody to go on", || place.processes().iter().all(|(_, state)| *state != 'T'));
        // A stop reaches a tree that is paused.
        process.controller.pause(true);
        wait_until("everybody to stop again", all_stopped);
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
