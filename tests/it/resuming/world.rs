//! A panel that notes each time it is asked, and what must hold before and after a session is resumed.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;

use serde_json::Value;

use crate::support::{Session, TeamToml, TestEnv, assert_consistent, finish, sha256};

/// The panel, who is its judges as well; two answers are plain and one is the best.
pub(super) const PANEL: [&str; 3] = ["kiwi", "plum", "pear"];

/// A world of agents that note what they are asked; all judges approve the best answer.
pub(super) fn world() -> TestEnv {
    world_voting(&["approve-word best"])
}

/// The same with other rules of voting.
pub(super) fn world_voting(rules: &[&str]) -> TestEnv {
    let env = TestEnv::new();
    let config = PANEL.iter().fold(TeamToml::new().panel(&PANEL), |config, name| {
        let note = format!("note {}", env.path(&format!("{name}.calls")).display());
        let answer = if *name == "kiwi" { "answer the best of all" } else { "answer a plain one" };
        // No two answers are the same.
        let answer = format!("{answer}, {}", name.len() + usize::from(*name == "pear"));
        let votes: Vec<String> = rules.iter().map(|rule| format!("vote {rule}")).collect();
        let steps: Vec<&str> =
            [note.as_str(), answer.as_str()].into_iter().chain(votes.iter().map(String::as_str)).collect();
        config.agent(name, &steps)
    });
    env.write("team.toml", config.text());
    env
}

/// What `name` was asked for, with the hash of the prompt, in order.
pub(super) fn calls(env: &TestEnv, name: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(env.path(&format!("{name}.calls"))).unwrap_or_default();
    let line = |line: &str| line.split_once(' ').map(|(what, hash)| (what.to_owned(), hash.to_owned())).unwrap();
    text.lines().map(line).collect()
}

/// How often `name` was asked for `what`.
pub(super) fn count(env: &TestEnv, name: &str, what: &str) -> usize {
    calls(env, name).iter().filter(|(asked, _)| asked == what).count()
}

/// How often each of these was asked with that prompt.
pub(super) fn asked(env: &TestEnv, done: &[(String, String)]) -> Vec<usize> {
    let times = |(name, prompt): &(String, String)| calls(env, name).iter().filter(|(_, hash)| hash == prompt).count();
    done.iter().map(times).collect()
}

/// Runs the program until it dies at `point` (`NAME` or `NAME:N`).
#[track_caller]
pub(super) fn die(env: &TestEnv, point: &str, arguments: &[&str]) {
    let output = env.team(arguments).env("TEAM_FAULT_POINT", point).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(9), "`{point}` was not reached by {arguments:?}\n{said}");
    env.wait_for_no_processes();
}

/// What came of a session, by model and without what chance or time decides.
#[derive(Debug, PartialEq)]
pub(super) struct CameOf {
    answers: BTreeMap<String, String>,
    verdict: BTreeMap<String, Vec<Value>>,
    winner: Option<String>,
    models: Value,
    phases: Value,
    status: Value,
}

impl CameOf {
    /// The model that wins.
    pub(super) fn winner(&self) -> Option<&str> {
        self.winner.as_deref()
    }
}

/// What came of `session`, whose folder must be consistent in itself.
#[track_caller]
pub(super) fn came_of(session: &Session) -> CameOf {
    assert_consistent(session);
    let manifest = session.json("manifest.json");
    let model = |id: &Value| manifest["models"][id.as_str().unwrap()]["model"].as_str().unwrap().to_owned();
    let answers = session.slots().into_iter().filter(|id| session.has(&format!("response-{id}.md")));
    let answers = answers.map(|id| (model(&id.clone().into()), session.text(&format!("response-{id}.md")))).collect();
    let verdict = session.json("verdict.json");
    let row = |row: &Value| {
        let fields = ["rank", "approvals", "rejections", "abstentions", "missing", "score"];
        (model(&row["id"]), fields.map(|field| row[field].clone()).to_vec())
    };
    let winner = &verdict["winner"];
    let meta = session.json("session-meta.json");
    CameOf {
        answers,
        verdict: verdict["answers"].as_array().unwrap().iter().map(row).collect(),
        winner: winner.as_str().map(|id| model(&id.into())),
        models: meta["models_used"].clone(),
        phases: meta["phases_completed"].clone(),
        status: meta["status"].clone(),
    }
}

/// Every file below the sessions with its hash, but for the text in the lock.
pub(super) fn snapshot(env: &TestEnv) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for session in env.sessions() {
        for file in session.files().into_iter().filter(|file| file != ".lock") {
            let hash = sha256(&std::fs::read(session.path(&file)).unwrap());
            files.insert(format!("{}/{file}", session.id()), hash);
        }
    }
    files
}

/// The agents whose answer or ballot is complete on disk, each with the hash of the prompt that it had been asked.
pub(super) fn finished(session: &Session) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in [".", "judging", "judging/repair", "judging/pass-2", "judging/pass-2/repair"] {
        let folder = session.round(folder);
        let Ok(manifest) = std::fs::read_to_string(folder.path("manifest.json")) else { continue };
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        for (id, member) in manifest["models"].as_object().unwrap() {
            if folder.has(&format!("response-{id}.md")) {
                let own = format!("prompt-{id}.md");
                let prompt = folder.text(if folder.has(&own) { &own } else { "input.md" });
                found.push((member["model"].as_str().unwrap().to_owned(), sha256(prompt.as_bytes())));
            }
        }
    }
    found
}

/// What an undisturbed run of the panel comes to.
pub(super) fn undisturbed(env: &TestEnv, arguments: &[&str]) -> CameOf {
    finish(env, arguments, 0);
    let came = came_of(&env.session());
    assert_eq!(came.winner.as_deref(), Some("kiwi"), "{came:?}");
    came
}
