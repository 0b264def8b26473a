//! `team_review`, `team_fix` and `team_respond`.

use std::os::unix::fs::symlink;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::world::status_until;
use crate::fix::{MENDED, MENDS, PLANTED, Repo, WEIGH, finding, looks, panel, with_fixer};
use crate::support::{Called, McpClient, Session, TeamToml, assert_consistent, finish, wait_until};

/// Fails when `text` names one of the panel.
#[track_caller]
fn names_nobody(text: &str) {
    for name in ["\"ra\"", "\"rb\"", "\"rc\"", "fake-agent", "\"fixer\":\"", "sh -c"] {
        assert!(!text.contains(name), "names `{name}`: {text}");
    }
}

/// Reviewers that look when the file `go` is there.
fn gated(action: &str) -> Repo {
    let repo = Repo::with(&panel(action, MENDS));
    let gate = format!("wait-for {}", repo.env.path("go").display());
    let found = [finding("high", action, PLANTED)];
    let config = TeamToml::new()
        .agent("ra", &[&gate, &looks(&found), WEIGH])
        .agent("rb", &[&gate, &looks(&found), WEIGH])
        .panel(&["ra", "rb"]);
    repo.git(&["checkout", "-q", "main"]);
    repo.env.write("team.toml", with_fixer(config, MENDS).text());
    repo.commit("a panel that waits");
    repo.git(&["checkout", "-q", "topic"]);
    repo.git(&["merge", "-q", "-m", "merge", "main"]);
    repo
}

/// Asks for the status until the session is settled, or waits for a person.
#[track_caller]
fn settled(client: &mut McpClient, session: &Value) -> Value {
    status_until(client, session, |status| !["in_progress", "closing"].contains(&status["state"].as_str().unwrap()))
}

#[test]
fn a_review_returns_at_once_and_its_status_ends_in_a_short_card() {
    let repo = gated("auto-fix");
    let mut client = McpClient::connect(&repo.env);
    let begun = client.call_of("team_review", &json!({"intent": "Sum all items.", "name": "sums"})).object();
    let session = &begun["session"];
    assert!(session.as_str().unwrap().starts_with("review-sums-"), "{begun}");
    assert_eq!((&begun["detached"], &begun["slots"]), (&json!(false), &Value::Null));
    assert_eq!(begun["next"][0], json!({"tool": "team", "arguments": {"mode": "status", "path": session}}));
    let at_work = status_until(&mut client, session, |status| {
        status["turn"] == "reviewers"
            && status["atWork"]["slots"].as_array().unwrap().iter().all(|slot| slot["activity"].is_string())
    });
    assert_eq!(at_work["atWork"]["folder"], "reviews/impl-review");
    assert!(at_work["means"].is_string(), "{at_work}");
    names_nobody(&at_work.to_string());
    repo.env.write("go", "");
    let card = settled(&mut client, session);
    assert_eq!((&card["kind"], &card["state"], &card["turn"]), (&json!("review"), &json!("completed"), &Value::Null));
    assert!(card["verdict"]["outcome"].as_str().unwrap().starts_with("blocked: 1 finding (F01)"), "{card}");
    assert_eq!(card["findings"]["open"], json!({"high": 1}));
    let listed =
        json!({"id": "F01", "severity": "high", "state": "sustained", "where": "src/sum.rs:3", "what": PLANTED});
    assert_eq!(card["findings"]["list"], json!([listed]));
    assert!(card.to_string().len() < 2500, "{} bytes: {card}", card.to_string().len());
    names_nobody(&card.to_string());
    let shown = client.call(&json!({"mode": "show", "path": session}));
    assert!(shown.text(1).contains("F01") && shown.text(1).contains(PLANTED), "{}", shown.text(1));
    assert!(repo.session().text("input.md").contains("Sum all items."));
    assert_eq!(client.object(&json!({"mode": "verify", "path": session}))["verified"], true);
    client.leave();
    assert_consistent(&repo.session());
}

#[test]
fn a_call_that_waits_tells_whose_turn_it_is() {
    let repo = gated("auto-fix");
    let mut client = McpClient::connect(&repo.env);
    let params = json!({"_meta": {"progressToken": 7}, "name": "team_review", "arguments": {"wait": true, "fail_on": "critical"}});
    let call = client.send("tools/call", &params);
    let line = |message: &Value| message["params"]["message"].as_str().unwrap_or_default().to_owned();
    client.message(|message| line(message).starts_with("review: 0 of 2 reviewers settled, 2 running"));
    repo.env.write("go", "");
    let reply = Called(client.reply(call)).object();
    assert_eq!((&reply["result"], &reply["exitCode"]), (&json!("done"), &json!(0)));
    assert!(reply["verdict"]["outcome"].as_str().unwrap().starts_with("passed"), "{reply}");
    assert_eq!(reply["said"], Value::Null);
    assert!(client.unasked().iter().any(|told| line(told).contains("judges settled")), "{:?}", client.unasked());
    client.unasked().iter().for_each(|told| names_nobody(&told.to_string()));
    client.leave();
}

#[test]
fn a_fix_ends_on_a_branch_with_the_commands_that_take_it() {
    let repo = Repo::with(&panel("auto-fix", MENDS));
    let before = repo.of_the_user();
    let mut client = McpClient::connect(&repo.env);
    let fixed = client.call_of("team_fix", &json!({"wait": true})).object();
    assert_eq!(
        (&fixed["result"], &fixed["kind"], &fixed["state"]),
        (&json!("done"), &json!("fix"), &json!("completed"))
    );
    let branch = repo.new_branches().remove(0);
    assert_eq!((&fixed["branch"]["name"], &fixed["branch"]["commits"]), (&json!(branch), &json!(1)));
    assert_eq!((&fixed["findings"]["open"], &fixed["findings"]["settled"]), (&json!({}), &json!({"mended": 1})));
    assert_eq!(fixed["round"], json!({"reviews": 3, "repairs": 1}));
    assert!(fixed["ended"].as_str().unwrap().starts_with("Nothing that is sustained"), "{fixed}");
    // What is not as it should be is told in the reply, though the process prints results only.
    assert!(fixed["warnings"][0].as_str().unwrap().contains("no check is configured"), "{fixed}");
    assert!(fixed.to_string().len() < 2500, "{} bytes: {fixed}", fixed.to_string().len());
    assert_eq!(repo.of_the_user(), before);
    let take = fixed["branch"]["commands"]["take it"].as_str().unwrap().strip_prefix("git ").unwrap().to_owned();
    repo.git(&take.split(' ').collect::<Vec<_>>());
    assert_eq!(std::fs::read_to_string(repo.env.path("src/sum.rs")).unwrap(), MENDED);
    client.leave();
    repo.env.wait_for_no_processes();
}

#[test]
fn a_fix_that_waits_for_a_person_survives_the_server_and_goes_on_with_the_answer() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    let mut client = McpClient::connect(&repo.env);
    let begun = client.call_of("team_fix", &json!({})).object();
    assert!(begun["warnings"][0].as_str().unwrap().contains("no check is configured"), "{begun}");
    let session = &begun["session"];
    let card = settled(&mut client, session);
    assert_eq!((&card["state"], &card["turn"]), (&json!("awaiting_decision"), &json!("user")));
    assert_eq!(card["decide"]["findings"], json!(["F01"]));
    assert_eq!(card["next"][1], json!({"tool": "team_respond", "arguments": {"path": session, "fix": ["F01"]}}));
    assert!(card.to_string().len() < 2500, "{} bytes: {card}", card.to_string().len());
    names_nobody(&card.to_string());
    assert!(client.call(&json!({"mode": "show", "path": session})).text(1).starts_with("# A decision is needed"));
    client.leave();

    let mut client = McpClient::connect(&repo.env);
    assert_eq!(settled(&mut client, session), card);
    for (arguments, expected) in [
        (json!({"path": session}), "nothing is decided"),
        (json!({"path": session, "fix": ["F09"]}), "there is no finding F09"),
        (json!({"path": session, "fix": ["F01"], "decline": ["F01"]}), "F01 cannot be both"),
        (json!({"path": session, "fix": ["F1"]}), "`fix[0]`: `F1` is not the id of a finding"),
        (json!({"path": "fix-none", "end": "skip"}), "no session `fix-none`"),
    ] {
        let said = client.refused_of("team_respond", &arguments);
        assert!(said.starts_with(expected) || said.contains(expected), "{arguments}: {said}");
    }
    assert_eq!(repo.states()["F01"], "sustained");
    let answered =
        client.call_of("team_respond", &json!({"path": session, "fix": ["F01"], "note": "sum all"})).object();
    assert_eq!(answered["session"], *session);
    let card = settled(&mut client, session);
    assert_eq!((&card["state"], &card["findings"]["settled"]), (&json!("completed"), &json!({"mended": 1})));
    assert_eq!(repo.states()["F01"], "verified");
    let said = client.refused_of("team_respond", &json!({"path": session, "end": "skip"}));
    assert!(said.contains("waits for no decision"), "{said}");
    client.leave();
    assert_consistent(&repo.session());
}

#[test]
fn each_end_of_a_fix_is_told_with_its_code() {
    for (end, code, told) in [
        ("approve", 0, "took what there is"),
        ("skip", 1, "left what was still to be decided"),
        ("abort", 3, "wants nothing of it"),
    ] {
        let repo = Repo::with(&panel("ask-user", "exit 9"));
        repo.fix(&[], 5);
        let mut client = McpClient::connect(&repo.env);
        let called = client.call_of("team_respond", &json!({"path": "latest", "end": end, "wait": true})).object();
        assert_eq!(called["exitCode"], code, "{called}");
        assert!(called["ended"].as_str().unwrap().contains(told), "{called}");
        client.leave();
    }
}

#[test]
fn two_answers_at_once_are_one_answer() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    repo.fix(&[], 5);
    let mut clients = [McpClient::connect(&repo.env), McpClient::connect(&repo.env)];
    let call = json!({"path": "latest", "fix": ["F01"], "wait": true});
    let calls = clients.each_mut().map(|client| client.begin_of("team_respond", &call));
    let mut replies = Vec::new();
    for (client, call) in clients.iter_mut().zip(calls) {
        replies.push(client.reply(call));
    }
    let refused: Vec<&Value> = replies.iter().filter(|reply| reply["result"]["isError"] == true).collect();
    assert_eq!(refused.len(), 1, "{replies:?}");
    let said = refused[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("is owned by process") || said.contains("waits for no decision"), "{said}");
    let decided = repo.session().events().iter().filter(|event| event["event"] == "decided").count();
    assert_eq!(decided, 1);
    assert_eq!(repo.states()["F01"], "verified");
    clients.into_iter().for_each(McpClient::leave);
    assert_consistent(&repo.session());
}

#[test]
fn a_client_that_is_gone_ends_what_it_began_and_leaves_what_is_detached() {
    for tool in ["team_review", "team_fix"] {
        let repo = gated("auto-fix");
        let began = |detach: bool| {
            let mut client = McpClient::connect(&repo.env);
            let begun = client.call_of(tool, &json!({"detach": detach})).object();
            status_until(&mut client, &begun["session"], |status| status["turn"] == "reviewers");
            client.leave();
            Session::at(begun["path"].as_str().unwrap())
        };
        let (attached, detached) = (began(false), began(true));
        assert_eq!(attached.json("session-meta.json")["status"], "cancelled", "{tool}");
        repo.env.write("go", "");
        wait_until("the detached one", || (detached.json("session-meta.json")["status"] == "completed").then_some(()));
        repo.env.wait_for_no_processes();
        let mut client = McpClient::connect(&repo.env);
        let card = client.object(&json!({"mode": "status", "path": attached.id()}));
        assert_eq!(card["next"], json!([{"tool": "team", "arguments": {"mode": "resume", "path": attached.id()}}]));
        client.object(&json!({"mode": "resume", "path": attached.id()}));
        let card = settled(&mut client, &json!(attached.id()));
        assert_eq!(card["state"], "completed", "{tool}: {card}");
        client.leave();
        assert_consistent(&attached);
        assert_consistent(&detached);
    }
}

#[test]
fn a_review_goes_down_with_its_server_and_another_one_resumes_it() {
    let repo = gated("auto-fix");
    let mut client = McpClient::connect(&repo.env);
    let begun = client.call_of("team_review", &json!({})).object();
    status_until(&mut client, &begun["session"], |status| status["turn"] == "reviewers");
    kill(Pid::from_raw(i32::try_from(client.pid()).unwrap()), Signal::SIGKILL).unwrap();
    client.wait();
    let session = repo.session();
    wait_until("the end", || (session.json("session-meta.json")["status"] == "cancelled").then_some(()));
    repo.env.write("go", "");
    let mut client = McpClient::connect(&repo.env);
    client.object(&json!({"mode": "resume", "path": begun["session"]}));
    assert_eq!(settled(&mut client, &begun["session"])["state"], "completed");
    client.leave();
}

#[test]
fn fifty_calls_at_once_about_one_fix_are_all_answered() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    repo.fix(&[], 5);
    let mut client = McpClient::connect(&repo.env);
    let calls: Vec<u64> = (0..50)
        .map(|number| match number % 5 {
            0 => client.begin_of("team_respond", &json!({"path": "latest", "fix": ["F77"]})),
            1 => client.begin_of("team_review", &json!({"test": "true"})),
            2 => client.send("resources/list", &json!({})),
            3 => client.begin(&json!({"mode": "show"})),
            _ => client.begin(&json!({"mode": "status"})),
        })
        .collect();
    let replies: Vec<Value> = calls.into_iter().map(|call| client.reply(call)).collect();
    assert!(replies.iter().all(|reply| reply["result"].is_object()), "{replies:?}");
    assert_eq!(replies.iter().filter(|reply| reply["result"]["isError"] == true).count(), 20);
    assert_eq!(repo.env.sessions().len(), 1);
    assert_eq!(client.object(&json!({"mode": "status"}))["state"], "awaiting_decision");
    client.leave();
}

#[test]
fn what_is_looked_at_lies_below_the_working_directory_and_an_intent_is_a_text() {
    let repo = Repo::with(&panel("auto-fix", MENDS));
    let env = &repo.env;
    std::fs::write(env.home().join("secret.md"), "a secret").unwrap();
    symlink(env.home().join("secret.md"), env.path("innocent.md")).unwrap();
    let outside = env.home().join("secret.md").display().to_string();
    let mut client = McpClient::connect(env);
    for (arguments, argument) in [
        (json!({"plan": "innocent.md"}), "plan"),
        (json!({"plan": outside}), "plan"),
        (json!({"paths": ["src", "../home"]}), "paths"),
        (json!({"intent_file": "innocent.md"}), "intent_file"),
        (json!({"path": ".."}), "path"),
    ] {
        let said = client.refused_of("team_review", &arguments);
        assert!(said.starts_with(&format!("`{argument}` names `")) && said.contains("which is not inside"), "{said}");
    }
    for (tool, arguments, expected) in [
        ("team_review", json!({"diff": "--output=x"}), "names no commit here"),
        ("team_review", json!({"plan": "absent.md"}), "which cannot be read"),
        ("team_review", json!({"models": ["rz"]}), "`rz`"),
        ("team_fix", json!({"fixer": "nobody"}), "`nobody`"),
        ("team_fix", json!({"base": "--all"}), "--all"),
        ("team_fix", json!({"only": ["a["]}), "`only`"),
    ] {
        let said = client.refused_of(tool, &arguments);
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    assert!(env.sessions().is_empty());
    // The name of a file is a text like any other.
    let arguments = json!({"paths": ["src/other.rs"], "intent": outside, "wait": true});
    let reviewed = client.call_of("team_review", &arguments).object();
    let input = Session::at(reviewed["path"].as_str().unwrap()).text("input.md");
    assert!(input.contains("secret.md") && !input.contains("a secret"), "{input}");
    client.leave();
}

#[test]
fn targets_are_those_of_the_command_line() {
    let repo = Repo::with(&panel("auto-fix", MENDS));
    repo.env.write("docs/-plan.md", "1. Sum all items.\n");
    repo.env.write("src/other.rs", "pub fn other() { todo!() }\n");
    let mut client = McpClient::connect(&repo.env);
    for (arguments, folder, sent) in [
        (json!({"plan": "docs/-plan.md"}), "reviews/plan-review", "1. Sum all items."),
        (json!({"worktree": true, "paths": ["src"]}), "reviews/impl-review", "todo!()"),
        (json!({"diff": "HEAD~1"}), "reviews/impl-review", "items.len() - 1"),
        (json!({"paths": ["docs/-plan.md"], "path": "mine"}), "reviews/impl-review", "1. Sum all items."),
    ] {
        let mut arguments = arguments;
        arguments["wait"] = json!(true);
        let reviewed = client.call_of("team_review", &arguments).object();
        let session = Session::at(reviewed["path"].as_str().unwrap());
        assert!(session.text(&format!("{folder}/input.md")).contains(sent), "{arguments}");
        assert_eq!(arguments["path"] == "mine", session.dir().starts_with(repo.env.path("mine")), "{arguments}");
    }
    client.leave();
}

#[test]
fn a_session_of_another_kind_is_answered_in_words() {
    let repo = Repo::with(&panel("auto-fix", MENDS));
    finish(&repo.env, &["review"], 1);
    let mut client = McpClient::connect(&repo.env);
    let said = client.refused_of("team_respond", &json!({"path": "latest", "end": "skip"}));
    assert!(said.contains("is no fix, so it waits for no decision"), "{said}");
    let said = client.refused(&json!({"mode": "judge", "path": "latest"}));
    assert!(said.contains("review"), "{said}");
    client.leave();
}

#[test]
fn names_are_told_only_when_asked_for_and_the_record_keeps_it() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    repo.fix(&[], 5);
    let mut client = McpClient::connect(&repo.env);
    names_nobody(&client.object(&json!({"mode": "status"})).to_string());
    let revealed = client.object(&json!({"mode": "status", "reveal": true}));
    let names: Vec<&str> =
        revealed["models"].as_object().unwrap().values().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names.len(), 3);
    assert!(["ra", "rb", "rc"].iter().all(|name| names.contains(name)), "{revealed}");
    assert_eq!(repo.session().events().iter().filter(|event| event["event"] == "revealed").count(), 1);
    // It still waits for the same.
    assert_eq!(client.object(&json!({"mode": "status"}))["state"], "awaiting_decision");
    client.leave();
}

#[test]
fn many_findings_leave_the_card_short() {
    let title = |number: usize| format!("Finding {number}: {}", "a very long title ".repeat(8));
    let found: Vec<Value> = (0..30)
        .map(|number| {
            let mut found = finding("high", "ask-user", &title(number));
            found["line"] = json!(1 + number * 100);
            found["description"] = json!(format!("{number} {}", "word ".repeat(number)));
            found
        })
        .collect();
    let config = TeamToml::new().agent("ra", &[&looks(&found), WEIGH]).agent("rb", &[&looks(&found), WEIGH]);
    let repo = Repo::with(&with_fixer(config.panel(&["ra", "rb"]), MENDS));
    repo.fix(&[], 5);
    let mut client = McpClient::connect(&repo.env);
    let card = client.object(&json!({"mode": "status"}));
    assert!(card["findings"]["more"].as_u64().unwrap() > 10, "{card}");
    assert!(card.to_string().len() < 2500, "{} bytes: {card}", card.to_string().len());
    client.leave();
}

#[test]
fn a_review_that_is_cancelled_says_so() {
    let repo = gated("auto-fix");
    let mut client = McpClient::connect(&repo.env);
    let begun = client.call_of("team_review", &json!({})).object();
    status_until(&mut client, &begun["session"], |status| status["turn"] == "reviewers");
    client.object(&json!({"mode": "cancel", "path": begun["session"]}));
    let card = settled(&mut client, &begun["session"]);
    assert_eq!(card["state"], "cancelled", "{card}");
    client.leave();
}
