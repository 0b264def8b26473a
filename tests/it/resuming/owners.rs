//! One owner at a time, and one folder for each session.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use team::model::{ModelIdentity, ModelSettings, OutputFormat, ResolvedModel, Target};
use team::session::{NewSession, Session as Made, SessionKind};

use super::world::{count, die};
use crate::support::{TeamToml, TestEnv, finish, wait_until};

#[test]
fn of_two_that_resume_at_once_one_wins_and_the_other_is_told_who() {
    let env = TestEnv::new();
    let step = |word: &str, file: &str| format!("{word} {}", env.path(file).display());
    let slow = [step("note", "slow.calls"), step("wait-for", "go"), "answer done".to_owned()];
    let slow: Vec<&str> = slow.iter().map(String::as_str).collect();
    env.write("team.toml", TeamToml::new().agent("slow", &slow).text());
    die(&env, "slot-started", &["run", "-m", "slow", "how long?"]);
    let mut both = [env.start(&["resume"]), env.start(&["resume"])];
    let loser = wait_until("one of them to give way", || both.iter_mut().position(|team| team.has_ended()));
    let winner = 1 - loser;
    assert_eq!(both[loser].wait().code(), Some(2));
    let said = both[loser].stderr();
    assert!(said.contains(&format!("is owned by process {}", both[winner].pid())), "{said}");
    env.write("go", "");
    assert_eq!(both[winner].wait().code(), Some(0), "{}", both[winner].stderr());
    assert_eq!(count(&env, "slow", "answer"), 1);
    let session = env.session();
    assert_eq!(session.text("response-01.md"), "done\n");
}

fn model() -> ResolvedModel {
    ResolvedModel {
        name: "a".to_owned(),
        identity: ModelIdentity("a".to_owned()),
        target: Target::Replay { file: "none".into(), output: OutputFormat::Text, pace: None },
        settings: ModelSettings::default(),
    }
}

#[test]
fn two_hundred_sessions_made_at_once_have_two_hundred_folders() {
    let env = TestEnv::with(&TeamToml::new().agent("quick", &["print x"]));
    let base = env.path("ai-docs/sessions");
    let now = Timestamp::now();
    let mut processes: Vec<_> = (0..8).map(|_| env.start(&["run", "-m", "quick", "--name", "same", "x"])).collect();
    let make = |_| {
        let new = NewSession {
            base: &base,
            kind: SessionKind::Team,
            title: "same",
            input: b"x",
            task: None,
            models: vec![model()],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            plan: None,
            judges: None,
            pipeline: None,
        };
        Made::create(new, now, &mut rand::rng()).unwrap().layout().name()
    };
    let made: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(move || (0..24).map(make).collect::<Vec<String>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for team in &mut processes {
        assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    }
    assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), 8 * 24);
    assert_eq!(env.sessions().len(), 200);
    let listed = finish(&env, &["list", "--json"], 0).0;
    let listed: Vec<serde_json::Value> = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.len(), 200);
}
