//! `--max-cost`.

use serde_json::json;

use super::told::{counted, price};
use crate::support::{Answer, Gate, Server, TeamToml, TestEnv, finish, wait_until};

const PER_CALL: &str = "a call of the priced model comes to 0.0022";

/// Seats of one priced model.
fn seats(server: &Server, names: &[&str]) -> TestEnv {
    let keys =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("api_key_env", "ZOO_KEY".into())];
    let config = names.iter().fold(TeamToml::new().provider("zoo", &keys).panel(names), |config, name| {
        config.model(name, &[("use", format!("zoo@{name}").into()), ("price", price(2.0, 0.5, 8.0))])
    });
    TestEnv::with(&config).set("ZOO_KEY", "dummy")
}

#[test]
fn what_would_pass_the_budget_is_not_begun_and_what_is_complete_is_kept() {
    let server = Server::start(counted);
    let env = seats(&server, &["quoll", "wombat", "bilby"]);
    let input = env.write("input.md", "word ".repeat(1600));
    // 2000 tokens at the cached price are 0.001 at the least, and the first call comes to 0.0022 (see PER_CALL).
    let input = input.display().to_string();
    let (_, err) = finish(&env, &["run", "--jobs", "1", "--max-cost", "0.003", "-i", &input], 0);
    assert!(!err.contains("0.0022"), "{PER_CALL}, which nobody is told before a verdict: {err}");
    let session = env.session();
    let states: Vec<String> = ["01", "02", "03"]
        .map(|slot| {
            let slot = session.slot(slot);
            format!("{}/{}", slot["state"].as_str().unwrap(), slot["error"]["reason"].as_str().unwrap_or("-"))
        })
        .into();
    assert_eq!(states, ["COMPLETED/-", "CANCELLED/budget", "CANCELLED/budget"]);
    assert!(session.slot("02")["error"]["detail"].as_str().unwrap().starts_with("not begun: "));
    assert_eq!(server.requests().len(), 1);

    // The rest of it, with more money: what was spent counts.
    finish(&env, &["resume", "latest", "--max-cost", "0.003"], 0);
    assert_eq!(server.requests().len(), 1, "0.0022 are gone");
    finish(&env, &["resume", "latest", "--max-cost", "1"], 0);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_run_without_a_verdict_tells_no_tokens_and_no_seat_apart_by_its_price() {
    let server = Server::start(counted);
    let keys =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("api_key_env", "ZOO_KEY".into())];
    let names = ["quoll", "wombat", "bilby", "dear", "numbat", "potoroo"];
    let config = names.iter().fold(TeamToml::new().provider("zoo", &keys).panel(&names), |config, name| {
        // Its prompt alone is nine tenths of the budget.
        let price = if *name == "dear" { price(900.0, 900.0, 0.0) } else { price(100.0, 100.0, 0.0) };
        config.model(name, &[("use", format!("zoo@{name}").into()), ("price", price)])
    });
    let env = TestEnv::with(&config).set("ZOO_KEY", "dummy");
    let input = env.write("input.md", "word ".repeat(800)).display().to_string();
    // Each other one is begun at 0.1 and comes to 0.1 (1000 tokens).
    finish(&env, &["run", "--jobs", "1", "--max-cost", "0.95", "-i", &input], 0);
    let session = env.session();
    let states: Vec<String> =
        ["01", "02", "03", "04", "05", "06"].map(|id| session.slot(id)["state"].as_str().unwrap().to_owned()).into();
    let begun = states.iter().filter(|state| *state == "COMPLETED").count();
    assert_eq!(server.requests().len(), begun);
    assert!(states[..begun].iter().all(|state| state == "COMPLETED"), "the rest is stopped as a whole: {states:?}");
    let dear = session.id_of("dear").parse::<usize>().unwrap();
    assert_eq!(begun, if dear == 1 { 1 } else { dear - 1 }, "{states:?}");
    for id in ["01", "02", "03", "04", "05", "06"] {
        assert!(session.slot(id)["usage"].is_null());
    }
    let record = session.text("events.jsonl");
    assert!(!record.contains("inputTokens") && !record.contains("1000") && record.contains("sealedUsage"), "{record}");
    let (refused, err) = finish(&env, &["run", "--max-cost", "0.8", "-i", &input], 2);
    assert!(
        err.contains("`--max-cost 0.80` does not pay for asking `dear`: its prompt alone is 0.90"),
        "{err}{refused}"
    );
    assert_eq!(env.sessions().len(), 1);
}

#[test]
fn running_slots_are_stopped_when_the_metered_cost_passes_the_budget() {
    let (other, gate) = (Gate::new(), Gate::new());
    let (complete, held) = (other.clone(), gate.clone());
    let server = Server::start(move |request| {
        if request.body["model"] == "quoll" {
            return counted(request);
        }
        // 40,000 bytes are taken as 10,000 tokens: 0.08.
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "x".repeat(40_000)}}]});
        Answer::chunked(200, &["content-type: text/event-stream"])
            .hold(&complete)
            .send(format!("data: {chunk}\n\n"))
            .hold(&held)
    });
    let env = seats(&server, &["quoll", "wombat"]);
    let mut team = env.start(&["run-and-judge", "--self-vote", "slot", "--max-cost", "0.05", "Which one?"]);
    let session = env.session_with("status.json");
    let quoll = session.id_of("quoll");
    // What is still at work when the budget is passed is stopped too, so the one that is to stay must be done by then.
    wait_until("quoll's answer", || (session.slot(&quoll)["state"] == "COMPLETED").then_some(()));
    other.open();
    assert_eq!(team.wait().code(), Some(3));
    let err = team.stderr();
    assert!(err.contains("stopped (budget)") && err.contains("--max-cost USD"), "{err}");
    let stopped = session.slot(&session.id_of("wombat"));
    assert_eq!((&stopped["state"], &stopped["error"]["reason"]), (&json!("CANCELLED"), &json!("budget")));
    assert_eq!(session.slot(&session.id_of("quoll"))["state"], "COMPLETED");
    assert_eq!(session.json("session-meta.json")["status"], "cancelled");
    assert!(!session.has("judging"), "nobody is asked to judge what there is no money for");
    gate.open();
    wait_until("the end of what was held", || (gate.held() == 0).then_some(()));
}

#[test]
fn judges_that_would_pass_the_budget_are_not_asked_and_the_others_are() {
    let server = Server::start(counted);
    let keys =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("api_key_env", "ZOO_KEY".into())];
    let config = TeamToml::new()
        .provider("zoo", &keys)
        .agent("quoll", &["answer One.", "vote approve"])
        .agent("wombat", &["answer Two.", "vote approve"])
        .model("dear", &[("use", "zoo@dear".into()), ("price", price(1_000_000.0, 1_000_000.0, 0.0))])
        .panel(&["quoll", "wombat"]);
    let env = TestEnv::with(&config).set("ZOO_KEY", "dummy");
    let judges =
        ["run-and-judge", "--judges", "quoll,wombat,dear", "--self-vote", "include", "--max-cost", "1", "Which?"];
    let (verdict, err) = finish(&env, &judges, 0);
    assert!(err.contains("warning: `--max-cost` cannot meter `quoll`, `wombat` while they answer"), "{err}");
    assert!(verdict.contains("budget"), "{verdict}");
    assert!(verdict.contains("`team judge` with a greater `--max-cost` asks it, in a new round"), "{verdict}");
    assert_eq!(server.requests().len(), 0);
    // The next step that is told works, and the budget is checked before the round is begun.
    let again = ["judge", "--judges", "quoll,wombat,dear", "--self-vote", "include", "--max-cost"];
    let before = env.session().text("events.jsonl");
    let (out, err) = finish(&env, &[&again[..], &["1"]].concat(), 2);
    assert!(out.is_empty() && err.contains("`--max-cost 1.00` does not pay for asking `dear`"), "{err}");
    assert_eq!(env.session().text("events.jsonl"), before);
    finish(&env, &[&again[..], &["1000000"]].concat(), 0);
    assert!(!server.requests().is_empty());
    assert!(env.session().has("judging-2/verdict.json"));
}

#[test]
fn a_round_that_the_budget_left_without_a_judge_names_nobody_and_goes_on_with_more() {
    let server = Server::start(counted);
    let keys =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("api_key_env", "ZOO_KEY".into())];
    let dear = |config: TeamToml, name: &str| {
        config.model(name, &[("use", format!("zoo@{name}").into()), ("price", price(1_000_000.0, 1_000_000.0, 0.0))])
    };
    let config = TeamToml::new()
        .provider("zoo", &keys)
        .agent("quoll", &["answer One.", "vote approve"])
        .agent("wombat", &["answer Two.", "vote approve"])
        .panel(&["quoll", "wombat"]);
    let env = TestEnv::with(&dear(dear(config, "dear"), "dearer")).set("ZOO_KEY", "dummy");
    let (out, err) = finish(&env, &["run-and-judge", "--judges", "dear,dearer", "--max-cost", "1", "Which?"], 3);
    assert!(err.contains("stopped (budget)") && err.contains("--max-cost USD"), "{err}");
    let session = env.session();
    assert!(!session.has("verdict.json") && !session.has("judging/verdict.json"), "{out}{err}");
    assert!(!out.contains("quoll") && !err.contains("answer 01 ("), "{out}{err}");
    assert_eq!(session.json("session-meta.json")["status"], "cancelled");
    assert_eq!(server.requests().len(), 0);
    finish(&env, &["resume", "latest", "--max-cost", "1000000"], 0);
    assert!(server.requests().len() >= 2, "both are asked");
    assert!(session.has("judging/verdict.json"));
}

#[test]
fn a_budget_is_an_amount_of_dollars() {
    let env = TestEnv::with(&TeamToml::new().agent("quoll", &["print x"]));
    let (_, err) = finish(&env, &["run", "-m", "quoll", "--max-cost", "much", "x"], 2);
    assert!(err.contains("`much` is no amount of US dollars"), "{err}");
    let env = env.set("TEAM_MAX_COST", "-1");
    let (_, err) = finish(&env, &["run", "-m", "quoll", "x"], 2);
    assert!(err.contains("$TEAM_MAX_COST: `-1` is no amount"), "{err}");
}
