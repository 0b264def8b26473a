//! Reviews by models behind HTTP: held to the findings' schema, shown nothing of each other, and never clean for want of an
//! answer.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::wires::{OpenaiChat, WIRES, Wire, said};
use crate::support::{Answer, Server, TeamToml, TestEnv, finish};

const PLAN: &str = "# Move the data\n\n1. Delete the old table.\n2. Copy it to the new one.\n";

fn finding(title: &str) -> Value {
    json!({
        "severity": "high", "action": "ask-user", "file": "plan.md", "line": 3, "end_line": null, "title": title,
        "description": format!("{title}, so that all is lost."), "evidence": "Step 1.", "suggestion": "Copy first.",
    })
}

fn findings(found: &[Value]) -> String {
    json!({ "findings": found }).to_string()
}

/// The names of the findings in a prompt, each with its text; none in that of a reviewer.
fn shown(prompt: &str) -> Vec<(&str, &str)> {
    let parts = prompt.split("\n### Finding ").skip(1);
    parts.map(|part| part.split_once('\n').unwrap()).collect()
}

/// A vote on every finding of a prompt.
fn sustained(prompt: &str) -> String {
    let vote = json!({"verdict": "SUSTAIN", "confidence": 9, "summary": "It is so."});
    let votes: Map<String, Value> =
        shown(prompt).iter().map(|(alias, _)| ((*alias).to_owned(), vote.clone())).collect();
    json!({ "votes": votes }).to_string()
}

fn provider(config: TeamToml, name: &str, wire: &dyn Wire, url: String) -> TeamToml {
    config.provider(name, &[("wire", wire.name().into()), ("base_url", url.into()), ("json_schema", true.into())])
}

fn review(env: &TestEnv, options: &[&str], code: i32) -> (String, String) {
    env.write("plan.md", PLAN);
    finish(env, &[&["review", "--plan", "plan.md", "--retries", "0"], options].concat(), code)
}

#[test]
fn on_every_wire_a_review_is_held_to_the_schema_of_findings_and_then_voted_on() {
    let finders = [WIRES[0].name(), WIRES[1].name()];
    let server = Server::start(move |request| {
        let wire = WIRES.into_iter().find(|wire| wire.name() == request.cell()).unwrap();
        let prompt = wire.prompt(&request.body).unwrap();
        let schema = request.body.pointer(wire.schema().0).unwrap();
        if shown(prompt).is_empty() {
            let item = &schema["properties"]["findings"]["items"]["properties"];
            assert!(item["severity"].is_object() && item["title"].is_object(), "{}: {schema}", wire.name());
            let found = if finders.contains(&wire.name()) { vec![finding("The table is gone")] } else { Vec::new() };
            said(wire, &[&findings(&found)])
        } else {
            assert_eq!(schema["properties"]["votes"]["required"].as_array().unwrap().len(), 1, "{}", wire.name());
            said(wire, &[&sustained(prompt)])
        }
    });
    let config = WIRES.into_iter().fold(TeamToml::new(), |config, wire| {
        provider(config, &format!("on-{}", wire.name()), wire, server.url(wire.name()))
    });
    let env = TestEnv::with(&config);
    let panel: Vec<String> = WIRES.iter().map(|wire| format!("on-{}@quokka-9", wire.name())).collect();
    review(&env, &["-m", &panel.join(",")], 1);
    let session = env.session();
    let seats = session.json("verdict.json")["seats"].clone();
    assert_eq!((&seats["panel"], &seats["usable"]), (&json!(5), &json!(5)));
    let standing = session.json("reviews/plan-review/judging/verdict.json")["findings"][0].clone();
    assert_eq!((&standing["tally"]["raised"], &standing["tally"]["sustain"]), (&json!(2), &json!(3)), "{standing}");
    finish(&env, &["verify"], 0);
}

/// What a provider does to a model of this name.
fn fault(model: &str) -> Answer {
    let whole = said(&OpenaiChat, &[&findings(&[])]);
    let stream = ["content-type: text/event-stream"];
    match model {
        "busy" => Answer::json(429, &OpenaiChat.error(429)),
        "broken" => Answer::json(500, &OpenaiChat.error(500)),
        "cut" => Answer::until_close(200, &stream).send(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"{\\\"findings\\\": []}\"},\"finish_reason\":null}]}\n\n",
        ),
        "page" => Answer::whole(200, &["content-type: text/html"], "<html>Sign in</html>"),
        "prose" => said(&OpenaiChat, &["I found nothing at all."]),
        "other" => said(&OpenaiChat, &["{\"issues\": []}"]),
        "nothing" => said(&OpenaiChat, &["\n"]),
        _ => whole,
    }
}

#[test]
fn a_provider_that_is_busy_cuts_or_answers_garbage_is_a_lost_seat_and_never_nothing_found() {
    let server = Server::start(|request| fault(request.body["model"].as_str().unwrap()));
    let config = provider(TeamToml::new(), "far", &OpenaiChat, server.url("v1"));
    let lost = [
        ("busy", "rate_limited"),
        ("broken", "api_error"),
        ("cut", "truncated"),
        ("page", "bad_output"),
        ("prose", "bad_output"),
        ("other", "bad_output"),
        ("nothing", "empty_output"),
    ];
    let bad: Vec<String> = lost.iter().map(|(model, _)| format!("far@{model}")).collect();
    let all = [vec!["far@sound".to_owned(), "far@sober".to_owned()], bad.clone()].concat();
    for (panel, options, code, told) in [
        (&all, &["--quorum", "2"][..], 0, "passed"),
        (&all, &[][..], 3, "inconclusive: 2 of 9 reviewers"),
        (&bad, &[][..], 4, "nothing usable: 0 of 7 reviewers"),
    ] {
        let env = TestEnv::with(&config);
        let (_, err) = review(&env, &[&["-m", &panel.join(",")], options].concat(), code);
        assert!(err.contains(told), "{told}: {err}");
        let session = env.session();
        let told = session.text("reviews/plan-review/consolidated.md");
        let manifest = session.round("reviews/plan-review");
        for (model, reason) in lost {
            let id = manifest.id_of(&format!("far@{model}"));
            let row = told.lines().find(|line| line.starts_with(&format!("| {id} "))).unwrap();
            assert!(row.contains(reason) && !row.contains("| nothing |"), "{model}: {row}");
        }
        finish(&env, &["verify"], 0);
    }
}

/// Models of one provider that find one thing each, and a record of what all of them are sent.
fn spies() -> (Server, TeamToml, String) {
    const MODELS: [&str; 5] = ["quokka-9", "wombat-7", "numbat-3", "bilby-2", "dugong-5"];
    let server = Server::start(|request| {
        let prompt = OpenaiChat.prompt(&request.body).unwrap();
        let at = MODELS.iter().position(|model| request.body["model"] == *model).unwrap();
        match shown(prompt).is_empty() {
            true => said(&OpenaiChat, &[&findings(&[finding(TITLES[at])])]),
            false => said(&OpenaiChat, &[&sustained(prompt)]),
        }
    });
    let config = provider(TeamToml::new(), "narwhal", &OpenaiChat, server.url("v1"));
    let panel = MODELS.map(|model| format!("narwhal@{model}")).join(",");
    (server, config, panel)
}

/// What each of them finds, which is nothing like what the others do.
const TITLES: [&str; 5] = [
    "Deleted before it was copied",
    "Nobody may write meanwhile",
    "Backups are older than a year",
    "Permissions of readers get lost",
    "Costs double over two months",
];

#[test]
fn what_reviewers_and_judges_are_sent_tells_nothing_of_the_others_and_has_an_order_of_its_own() {
    let mut seats = BTreeSet::new();
    for _ in 0..3 {
        let (server, config, panel) = spies();
        let env = TestEnv::with(&config);
        review(&env, &["-m", &panel, "--fail-on", "low"], 1);
        let requests = server.requests();
        let prompts: Vec<&str> = requests.iter().map(|request| OpenaiChat.prompt(&request.body).unwrap()).collect();
        let (reviews, votes): (Vec<&str>, Vec<&str>) = prompts.iter().partition(|prompt| shown(prompt).is_empty());
        assert_eq!((reviews.len(), votes.len()), (5, 5));
        for request in &requests {
            // All but the name of the model itself, which its provider needs.
            let mut sent = request.body.clone();
            sent.as_object_mut().unwrap().remove("model");
            let sent = format!("{}{sent}", request.head).to_lowercase();
            for name in ["quokka", "wombat", "numbat", "bilby", "dugong", "narwhal", "manifest", "shuffle"] {
                assert!(!sent.contains(name), "{name}: {sent}");
            }
            for place in [env.project(), env.home()] {
                assert!(!sent.contains(&place.display().to_string().to_lowercase()), "{sent}");
            }
        }
        assert!(reviews.iter().all(|prompt| TITLES.iter().all(|title| !prompt.contains(title))));
        let mut orders = BTreeSet::new();
        for prompt in votes {
            // Those of the four others, under names that say nothing, each in an order of its own.
            let findings = shown(prompt);
            let order: Vec<usize> = findings
                .iter()
                .map(|(alias, text)| {
                    assert_eq!(alias.len(), 6, "{alias}");
                    TITLES.iter().position(|title| text.contains(title)).unwrap()
                })
                .collect();
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 4, "{prompt}");
            assert!(!prompt.contains("F01") && !prompt.contains("aised by"), "{prompt}");
            let own = TITLES.len() * (TITLES.len() - 1) / 2 - order.iter().sum::<usize>();
            let rank = order.iter().map(|title| title - usize::from(*title > own)).collect::<Vec<_>>();
            orders.insert(rank);
        }
        assert!(orders.len() > 1, "five judges see the same order: {orders:?}");
        let manifest = env.session().round("reviews/plan-review").json("manifest.json");
        seats.insert(manifest["shuffleOrder"].to_string());
    }
    assert!(seats.len() > 1, "the seats are in the same order three times: {seats:?}");
}

#[test]
fn before_the_verdict_nothing_written_or_shown_names_a_member() {
    let words = ["quokka", "wombat", "numbat", "bilby", "dugong", "narwhal"];
    for point in ["turn-recorded", "ledger-recorded", "round-closed", "ledger-recorded:2"] {
        let server = Server::start(|request| match request.body["model"].as_str().unwrap() {
            "quokka-9" => Answer::json(404, &json!({"error": {"message": "narwhal has no model quokka-9"}})),
            "wombat-7" => said(&OpenaiChat, &["I am not a reviewer."]),
            _ if request.body.to_string().contains("### Finding ") => said(&OpenaiChat, &["I cannot say."]),
            model => said(&OpenaiChat, &[&findings(&[finding(TITLES[usize::from(model == "bilby-2")])])]),
        });
        let config = provider(TeamToml::new(), "narwhal", &OpenaiChat, server.url("v1"));
        let env = TestEnv::with(&config);
        env.write("plan.md", PLAN);
        let panel = "narwhal@quokka-9,narwhal@wombat-7,narwhal@numbat-3,narwhal@bilby-2";
        let output = env.team(&["review", "--plan", "plan.md", "-v", "-m", panel]);
        let output = { output }.env("TEAM_FAULT_POINT", point).output().unwrap();
        assert_eq!(output.status.code(), None, "{point}: {}", String::from_utf8_lossy(&output.stderr));
        let shown = String::from_utf8_lossy(&output.stderr).to_lowercase();
        for word in words {
            assert!(!shown.contains(word), "{point}: {word}: {shown}");
        }
        env.session().assert_names_nobody(&words);
    }
}
