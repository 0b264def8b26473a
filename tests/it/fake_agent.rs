//! The scripted agent does what its steps say; the other tests rest on that.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::support::{TestEnv, is_alive, wait_until};

fn run(steps: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fake-agent"))
        .args(steps)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A script that does not read its input closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(steps: &[&str], stdin: &str) -> String {
    String::from_utf8(run(steps, stdin).stdout).unwrap()
}

#[test]
fn steps_run_in_order_and_end_with_the_code() {
    let output = run(&["print a\\tb\nwrite c", "# nothing", "stderr oops", "exit 7", "print never"], "");
    assert_eq!(output.stdout, b"a\tb\nc");
    assert_eq!(output.stderr, b"oops\n");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn a_step_that_cannot_be_read_stops_everything_before_it_begins() {
    let output = run(&["print a", "prnt b"], "");
    assert_eq!(output.stdout, b"");
    assert_eq!(output.status.code(), Some(98));
}

#[test]
fn stdin_is_reported_with_its_length_and_hash() {
    let expected = "stdin bytes=3 sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n";
    assert_eq!(stdout(&["read-stdin"], "abc"), expected);
}

#[test]
fn bytes_are_as_many_as_asked_for() {
    assert_eq!(run(&["bytes 100001"], "").stdout.len(), 100_001);
}

#[test]
fn frames_are_lines_of_json() {
    let text = stdout(&["claude-frames 3 hello"], "");
    let types: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(types, ["system", "assistant", "assistant", "assistant", "result"]);
}

#[test]
fn a_prompt_with_answers_is_voted_on_and_any_other_is_answered() {
    let steps = ["answer Forty-two.", "vote approve-word right"];
    assert_eq!(stdout(&steps, "What is it?"), "Forty-two.\n");
    let ballots = stdout(&steps, "### Response A1\nright\n### Response B2\nwrong\n");
    assert!(ballots.contains("RESPONSE: A1\nVERDICT: APPROVE"), "{ballots}");
    assert!(ballots.contains("RESPONSE: B2\nVERDICT: REJECT"), "{ballots}");
    assert!(!ballots.contains("Forty-two"), "{ballots}");
}

#[test]
fn a_signal_that_it_sends_itself_ends_it() {
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(run(&["kill-self SIGKILL"], "").status.signal(), Some(9));
}

#[test]
fn a_blocked_term_does_not_end_it_and_a_caught_one_runs_its_steps() {
    use nix::sys::signal::{Signal, kill};
    let env = TestEnv::new();
    let file = env.path("ready");
    let start = |steps: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_fake-agent")).args(steps).current_dir(env.project()).spawn().unwrap()
    };
    let pid = |child: &std::process::Child| nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());

    let mut caught = start(&["on-term touch saw-term ;; exit 5", "pid ready", "hang"]);
    env.pid_in(&file);
    kill(pid(&caught), Signal::SIGTERM).unwrap();
    let status = wait_until("the end after SIGTERM", || caught.try_wait().unwrap());
    assert_eq!(status.code(), Some(5));
    assert!(env.path("saw-term").exists());

    std::fs::remove_file(&file).unwrap();
    let mut deaf = start(&["ignore-term", "pid ready", "wait-for go", "exit 6"]);
    env.pid_in(&file);
    kill(pid(&deaf), Signal::SIGTERM).unwrap();
    env.write("go", "");
    assert_eq!(wait_until("the end after SIGTERM", || deaf.try_wait().unwrap()).code(), Some(6));
}

#[test]
fn a_spawned_child_outlives_it_and_is_found_by_its_folder() {
    use nix::sys::signal::{Signal, kill};
    let env = TestEnv::new();
    let status = Command::new(env!("CARGO_BIN_EXE_fake-agent"))
        .args(["spawn setsid ;; ignore-term ;; close-stdout ;; pid child ;; chatter 50", "wait-for child"])
        .current_dir(env.project())
        .env_clear()
        .status()
        .unwrap();
    assert!(status.success());
    let child = env.pid_in(&env.path("child"));
    assert!(is_alive(child));
    assert_eq!(env.processes().iter().map(|(pid, _)| *pid).collect::<Vec<_>>(), [child]);
    kill(nix::unistd::Pid::from_raw(i32::try_from(child).unwrap()), Signal::SIGKILL).unwrap();
    env.wait_for_no_processes();
}
