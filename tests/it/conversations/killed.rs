//! An owner that is killed in a turn: the next one goes on, nobody who answered is asked again, and nothing is said twice.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use rstest::rstest;

use super::world::CLAUDE;
use crate::support::{TestEnv, strongest};

/// The places in a turn of a conversation.
pub(crate) const PLACES: [&str; 3] = ["turn-asked", "turn-kept", "turn-heard"];

/// A world whose program notes each time that it is asked.
fn world() -> TestEnv {
    let env = TestEnv::new();
    let noted =
        CLAUDE.replacen("id= resumed=", &format!("echo asked >> {}\nid= resumed=", env.path("asked").display()), 1);
    env.program("claude", &noted)
}

fn caller(env: &TestEnv, point: Option<&str>) -> Command {
    let mechanism = strongest().to_string();
    let project = env.project();
    let surrounded = env.command_under(&[], &[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_caller"));
    let arguments = ["talk".as_ref(), mechanism.as_ref(), project.as_os_str(), env!("CARGO_BIN_EXE_team").as_ref()];
    command.args(arguments).current_dir(&project).env_clear();
    command.envs(surrounded.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.envs(point.map(|point| ("TEAM_FAULT_POINT", point)));
    command
}

/// How often the program is asked in all: a turn whose end was not on record yet is taken once more.
#[rstest]
#[case("turn-asked:2", 2)]
#[case("slot-started:2", 2)]
#[case("answer-synced:2", 3)]
#[case("answer-named:2", 2)]
#[case("turn-kept:1", 3)]
#[case("turn-kept:2", 3)]
#[case("slot-end-heard:2", 2)]
#[case("slot-end-settled:2", 2)]
#[case("panel-done:2", 2)]
#[case("turn-heard:1", 2)]
#[case("turn-heard:2", 2)]
fn a_turn_in_which_the_owner_was_killed_is_gone_on_with(#[case] point: &str, #[case] times: usize) {
    let env = world();
    let killed = caller(&env, Some(point)).output().unwrap();
    let said = String::from_utf8_lossy(&killed.stderr);
    assert_eq!(killed.status.signal(), Some(9), "`{point}` was not reached: {said}");
    env.wait_for_no_processes();
    let output = caller(&env, None).output().unwrap();
    assert!(output.status.success(), "{point}: {}", String::from_utf8_lossy(&output.stderr));
    let expected = "Some(Begun)\nSome(Continued)\n\
        Team apple\nParticipant apple\nTeam banana\nParticipant apple banana\n";
    assert_eq!(std::fs::read_to_string(env.path("talk")).unwrap(), expected, "{point}");
    let asked = std::fs::read_to_string(env.path("asked")).unwrap();
    assert_eq!(asked.lines().count(), times, "{point}");
    env.wait_for_no_processes();
}
