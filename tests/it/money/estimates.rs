//! `--estimate`.

use serde_json::{Value, json};

use super::told::{counted, price};
use crate::support::{Server, TeamToml, TestEnv, finish};

#[test]
fn an_estimate_tells_what_would_be_sent_and_starts_nothing() {
    let server = Server::start(counted);
    let keys =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("api_key_env", "ZOO_KEY".into())];
    let config = TeamToml::new()
        .provider("zoo", &keys)
        .agent("wombat", &["answer Two.", "vote approve"])
        .model("quoll", &[("use", "zoo@q".into()), ("price", price(2.0, 0.5, 8.0)), ("max_tokens", 1000.into())])
        .panel(&["quoll", "wombat"]);
    let env = TestEnv::with(&config).set("ZOO_KEY", "dummy").set("TEAM_OFFLINE", "false");
    let before = std::fs::read_dir(env.project()).unwrap().count();
    let task = "x".repeat(1000);

    let (out, err) = finish(&env, &["run", "--estimate", &task], 0);
    let lines: Vec<&str> = out.lines().collect();
    let cells = |line: &str| {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(cells(lines[1]), ["slot", "quoll", "1", "200 to 500", "100 to 1000", "0.0012 to 0.009"]);
    assert_eq!(cells(lines[2]), ["slot", "wombat", "1", "200 or more", "100 or more", "unknown"]);
    let sum = "In all 0.0012 to 0.009 US dollars and more, without 1 of 2 seats, whose price is unknown.";
    assert!(out.contains(sum), "{out}");
    assert!(err.contains("nothing was started"), "{err}");

    let (out, _) = finish(&env, &["run-and-judge", "--self-vote", "include", "--json", "--estimate", &task], 0);
    let estimate: Value = serde_json::from_str(&out).unwrap();
    let seats = estimate["seats"].as_array().unwrap();
    assert_eq!(seats.iter().filter(|seat| seat["seat"] == "judge").count(), 2);
    let judge = seats.iter().find(|seat| seat["seat"] == "judge" && seat["model"] == "quoll").unwrap();
    assert_eq!(judge["outputTokens"], json!({"low": 120, "high": 1600}), "the repair is in the most");
    assert!(judge["inputTokens"]["low"].as_u64().unwrap() > 400, "the task and both answers: {judge}");

    let (out, _) = finish(&env, &["vote", "--estimate", "Ship it?"], 0);
    assert_eq!(out.lines().filter(|line| line.starts_with("slot")).count(), 2, "{out}");

    assert_eq!(server.requests().len() + server.connections(), 0, "nobody is asked, not even for a list");
    assert_eq!(env.sessions().len(), 0);
    assert_eq!(std::fs::read_dir(env.project()).unwrap().count(), before);
}

#[test]
fn an_estimate_of_seats_without_a_price_is_unknown_and_not_nothing() {
    let env = TestEnv::with(&TeamToml::new().agent("quoll", &["print x"]).agent("wombat", &["print x"]));
    let (out, _) = finish(&env, &["run", "--estimate", "-m", "quoll,wombat", "x"], 0);
    assert!(out.contains("In all unknown: the price of no seat is known.") && !out.contains("0.00"), "{out}");
    let (out, _) = finish(&env, &["vote", "--estimate", "--json", "-m", "quoll,wombat", "x"], 0);
    let estimate: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&estimate["usd"], &estimate["unknownSeats"]), (&Value::Null, &json!(2)));
}

#[test]
fn an_estimate_of_votes_on_a_finished_run_asks_nobody_and_tells_no_judge_apart() {
    let server = Server::start(counted);
    let keys =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("api_key_env", "ZOO_KEY".into())];
    let config = TeamToml::new()
        .provider("zoo", &keys)
        .agent("wombat", &["answer Two.", "vote approve"])
        .agent("bilby", &[&format!("answer {}", "long ".repeat(500)), "vote approve"])
        .agent("dead", &["exit 3"])
        .model("dear", &[("use", "zoo@q".into()), ("price", price(2.0, 0.5, 8.0))])
        .panel(&["wombat", "bilby", "dead"]);
    let env = TestEnv::with(&config).set("ZOO_KEY", "dummy").set("TEAM_OFFLINE", "false");
    finish(&env, &["run", "Which one?"], 0);
    let before = env.session().files();
    let (out, err) = finish(&env, &["judge", "--estimate", "--json"], 0);
    let estimate: Value = serde_json::from_str(&out).unwrap();
    let seats = estimate["seats"].as_array().unwrap();
    assert_eq!(seats.iter().map(|seat| &seat["model"]).collect::<Vec<_>>(), ["wombat", "bilby", "dead"]);
    for seat in seats {
        assert_eq!((&seat["seat"], &seat["inputTokens"]), (&json!("judge"), &seats[0]["inputTokens"]), "{out}");
        assert_eq!(seat["outputTokens"], seats[0]["outputTokens"]);
    }
    assert!(err.contains("nothing was started"), "{err}");
    let (out, _) = finish(&env, &["judge", "--estimate", "--judges", "dear,wombat"], 0);
    assert!(out.lines().any(|line| line.starts_with("judge  dear ") && !line.contains("unknown")), "{out}");
    assert_eq!((env.session().files(), server.requests().len()), (before, 0));
    let (_, err) = finish(&env, &["run", "-m", "dead,wombat", "x"], 0);
    assert!(err.contains("1 of 2"), "{err}");
    let (_, err) = finish(&env, &["judge", "--estimate"], 2);
    assert!(err.contains("no two complete answers"), "{err}");
}

#[test]
fn an_estimate_refuses_what_a_run_would_refuse() {
    let env = TestEnv::with(&TeamToml::new().agent("quoll", &["print x"]));
    finish(&env, &["run", "--estimate", "-m", "quoll,nosuch", "x"], 2);
    finish(&env, &["run-and-judge", "--estimate", "-m", "quoll", "x"], 2);
    finish(&env, &["run", "--estimate", "--remember", "-m", "quoll", "x"], 2);
}
