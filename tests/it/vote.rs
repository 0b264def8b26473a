//! `team vote` by the real program: what decides, what is read, what members are asked, and what is left when it is cut off.

mod asking;
mod deciding;
mod resumed;

use serde_json::Value;

use crate::support::{Session, TeamToml, TestEnv, assert_consistent, finish};

/// A reply with a vote block, as a step of the agent.
fn says(verdict: &str, summary: &str, issues: &[&str]) -> String {
    let issues: String = issues.iter().map(|issue| format!("\\n- {issue}")).collect();
    let issues = if issues.is_empty() { " None".to_owned() } else { issues };
    format!(
        "print I looked at it.\\n\\n```vote\\nVERDICT: {verdict}\\nCONFIDENCE: 7\\nSUMMARY: {summary}\\n\
         KEY_ISSUES:{issues}\\n```"
    )
}

/// A panel of members m1, m2, .. that each do one thing: `a`pprove, `r`eject, ab`s`tain, reply in prose (`p`), fail (`f`).
fn panel(members: &str) -> TestEnv {
    let names: Vec<String> = (1..=members.len()).map(|number| format!("m{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let config = members.chars().zip(&names).fold(TeamToml::new().panel(&names), |config, (does, name)| {
        let step = match does {
            'a' => says("APPROVE", "Good.", &[]),
            'r' => says("REJECT", "Bad.", &["No tests"]),
            's' => says("ABSTAIN", "Cannot tell.", &[]),
            'p' => "print I would approve this.".to_owned(),
            'f' => "exit 3".to_owned(),
            other => panic!("`{other}`"),
        };
        config.agent(name, &["swallow", &step])
    });
    TestEnv::with(&config)
}

/// Lets the panel vote; fails unless it exits with `code`. Gives the session, which must be consistent, and its verdict.
#[track_caller]
fn vote(env: &TestEnv, options: &[&str], code: i32) -> (Session, Value) {
    let (out, _) = finish(env, &[&["vote", "Should it be merged?"], options].concat(), code);
    let session = env.session();
    assert_eq!(out, session.text("verdict.md"));
    assert_consistent(&session);
    let verdict = session.json("verdict.json");
    (session, verdict)
}

/// The part of the verdict about the member that is `model`.
#[track_caller]
fn member(session: &Session, model: &str) -> Value {
    let id = session.id_of(model);
    let verdict = session.json("verdict.json");
    verdict["members"].as_array().unwrap().iter().find(|member| member["id"] == id).unwrap().clone()
}
