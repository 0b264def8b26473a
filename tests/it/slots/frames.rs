//! Frames of every size, and the memory that they take.

use toml::Value;

use super::{reason, run};
use crate::support::{TeamToml, TestEnv, wait_until};

fn claude() -> [(&'static str, Value); 1] {
    [("output", Value::from("claude-stream-json"))]
}

#[test]
fn a_frame_of_2_mb_is_an_answer_and_one_over_64_mib_an_error_of_its_slot_alone() {
    let config = TeamToml::new()
        .agent_with("large", &["big-frame 2000000"], &claude())
        .agent_with("huge", &["big-frame 68000000"], &claude())
        .agent("small", &["print fine"]);
    let env = TestEnv::with(&config);
    let (code, output, session) = run(&env, &["-m", "large,huge,small", "two words"]);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let (large, huge, small) = (session.id_of("large"), session.id_of("huge"), session.id_of("small"));
    assert_eq!(session.slot(&large)["outputSize"], 2_000_001, "{}", session.slot(&large));
    let text = session.text(&format!("response-{large}.md"));
    assert!(text.trim_end().bytes().all(|byte| byte == b'x'));
    assert_eq!(reason(&session, &huge), "FAILED/bad_output");
    assert_eq!(session.slot(&huge)["error"]["detail"], "a frame is longer than 64 MiB");
    assert_eq!(session.slot(&small)["state"], "COMPLETED");
}

/// The most memory that the program held, in KiB, when the slot with these steps has printed everything.
fn peak(steps: &[&str], keys: &[(&str, Value)]) -> u64 {
    let env = TestEnv::new();
    let (done, go) = (env.path("done"), env.path("go"));
    let script = format!("{}\ntouch {}\nwait-for {}\n", steps.join("\n"), done.display(), go.display());
    let script = env.write("script", script);
    let argument = format!("@{}", script.display());
    env.write("team.toml", TeamToml::new().agent_with("a", &[&argument], keys).text());
    let mut team = env.start(&["run", "-m", "a", "two words"]);
    wait_until("everything to be printed", || done.exists().then_some(()));
    let status = std::fs::read_to_string(format!("/proc/{}/status", team.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = line.trim().trim_end_matches(" kB").parse().unwrap();
    env.write("go", "");
    team.wait();
    peak
}

#[test]
fn memory_grows_neither_with_a_frame_over_the_limit_nor_with_the_answer() {
    let of = |step: &str| peak(&[step], &claude());
    let (small, large) = (of("big-frame 70000000"), of("big-frame 250000000"));
    assert!(large < small + 20_000, "one frame: {small} KiB, {large} KiB");
    let text = "t".repeat(60_000);
    let (small, large) = (of(&format!("claude-frames 40 {text}")), of(&format!("claude-frames 800 {text}")));
    assert!(large < small + 10_000, "many frames: {small} KiB, {large} KiB");
    assert!(large < 60_000, "many frames: {large} KiB");
}

#[test]
fn an_answer_of_256_mib_keeps_memory_flat_as_text_and_as_frames() {
    let text = (peak(&["bytes 16777216"], &[]), peak(&["bytes 268435456"], &[]));
    assert!(text.1 < text.0 + 10_000, "text: {} KiB, {} KiB", text.0, text.1);
    let piece = "t".repeat(60_000);
    let frames = |count: u32| peak(&[&format!("claude-frames {count} {piece}")], &claude());
    let frames = (frames(280), frames(4_475));
    assert!(frames.1 < frames.0 + 10_000, "frames: {} KiB, {} KiB", frames.0, frames.1);
}
