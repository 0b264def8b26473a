//! What decides: the bar, the quorum, what is missing, and the exit code.

use super::{panel, says, vote};
use crate::support::{TeamToml, TestEnv, finish};

#[test]
fn the_votes_the_bar_and_the_quorum_decide_and_the_exit_code_tells() {
    for (members, options, decision, code) in [
        ("aar", &[][..], "APPROVED", 0),
        ("arr", &[], "REJECTED", 1),
        ("ars", &[], "SPLIT", 3),
        ("aff", &[], "INCONCLUSIVE", 3),
        ("ass", &["--quorum", "1"], "APPROVED", 0),
        ("aar", &["--threshold", "supermajority"], "APPROVED", 0),
        ("aar", &["--threshold", "67%"], "SPLIT", 3),
        ("aar", &["--threshold", "unanimous"], "SPLIT", 3),
        ("rrs", &["--threshold", "unanimous"], "REJECTED", 1),
        ("aar", &["--quorum", "3", "--threshold", "66%"], "APPROVED", 0),
        ("aas", &["--quorum", "3"], "INCONCLUSIVE", 3),
        ("pppp", &["--no-repair"], "INCONCLUSIVE", 3),
        ("r", &["--quorum", "1"], "REJECTED", 1),
    ] {
        let env = panel(members);
        let (session, verdict) = vote(&env, options, code);
        assert_eq!(verdict["decision"], decision, "{members} {options:?}");
        let text = session.text("verdict.md");
        assert!(text.lines().next().unwrap().ends_with(decision), "{text}");
        assert_eq!(session.json("session-meta.json")["status"], "completed");
    }
}

#[test]
fn the_document_tells_the_votes_the_issues_the_dissent_and_who_failed() {
    let config = TeamToml::new()
        .agent("kiwi", &["swallow", &says("REJECT", "Too | risky.", &["No rollback", "No tests"])])
        .agent("plum", &["swallow", &says("REJECT", "Not yet.", &["no rollback."])])
        .agent("pear", &["swallow", &says("APPROVE", "<b>Fine</b>\\x1b[2J.", &[])])
        .agent("dead", &["swallow", "stderr out of ink", "write ```vote\\nVERDICT: APPROVE\\n```", "exit 3"])
        .panel(&["kiwi", "plum", "pear", "dead"]);
    let env = TestEnv::with(&config);
    let (session, verdict) = vote(&env, &[], 1);
    let id = |model: &str| session.id_of(model);
    let text = session.text("verdict.md");
    let pair = |one: &str, other: &str| {
        let mut ids = [id(one), id(other)];
        ids.sort();
        ids.join(" and ")
    };
    for part in [
        "# Verdict of a partial panel: REJECTED\n\n**REJECTED**: 2 of 3 valid votes reject, and 2 were needed (1 for and 2 against).\n",
        "> **Partial panel: 1 of 4 members without a vote.**",
        "- Bar: more than half of the valid votes (`majority`), which is 2 of 3\n- Quorum: 3 valid votes of a panel of 4; 3 were cast\n",
        &format!("| {} | kiwi | **reject** | 7 | Too \\| risky. |", id("kiwi")),
        &format!("| {} | pear | approve | 7 | \\<b\\>Fine\\</b\\>␛\\[2J. |", id("pear")),
        &format!("| {} | dead | missing | - | FAILED, see below |", id("dead")),
        &format!("| {} | Members |\n| ---: | :--- | :--- |\n| 2 | ", "Named by | Issue"),
        &format!(" | {} |\n| 1 | No tests | {} |", pair("kiwi", "plum"), id("kiwi")),
        &format!("## Dissent\n\n- member {} (pear) approves: ", id("pear")),
        &format!("- member {} (dead) is FAILED, `nonzero_exit` (log: `errors/{}.log`). Next: ", id("dead"), id("dead")),
        "- Isolation: ",
        "Before this verdict the chain ended with the hash `",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    assert_eq!(verdict["votes"]["missing"], 1);
    assert_eq!(verdict["dissent"], serde_json::json!([id("pear")]));
    assert_eq!(session.slot(&id("dead"))["attempts"], 1, "nobody is asked again or in its place");
    let meta = session.json("session-meta.json");
    assert_eq!(meta["type"], "team");
    assert_eq!(meta["phases_completed"], serde_json::json!(["init", "run", "verdict"]));
    assert_eq!(meta["models_used"], serde_json::json!(["kiwi", "plum", "pear", "dead"]));
    assert_eq!(meta["artifacts"]["task"], "task.md");
}

#[test]
fn with_strict_a_missing_vote_outweighs_the_decision_and_an_abstention_is_a_vote() {
    for (members, code) in [("aaf", 4), ("rrp", 4), ("aas", 0), ("rrs", 1)] {
        let env = panel(members);
        let (_, verdict) = vote(&env, &["--strict", "--no-repair"], code);
        assert_ne!(verdict["decision"], "INCONCLUSIVE", "{members}: what the votes come to is told all the same");
    }
}

#[test]
fn where_nobody_answers_there_is_no_verdict() {
    let env = panel("fff");
    let (out, err) = finish(&env, &["vote", "Should it?"], 4);
    let session = env.session();
    assert_eq!(out.trim_end(), session.dir().to_str().unwrap());
    assert!(err.contains("nothing usable: 0 of 3 slots completed"), "{err}");
    assert!(!session.has("verdict.md") && !session.has("verdict.json"));
    assert_eq!(session.json("session-meta.json")["status"], "failed");
    assert_eq!(session.json("session-meta.json")["models_used"], serde_json::Value::Null);
}

#[test]
fn a_quorum_that_cannot_be_reached_is_refused_before_anybody_is_asked() {
    for (members, options, told) in [
        ("a", &[][..], "this panel has one vote"),
        ("aa", &["--quorum", "3"], "the quorum is 3, and this panel has 2 votes"),
        ("aa", &["--quorum", "0"], "--quorum"),
        ("aa", &["--threshold", "66.7%"], "`66.7%` is not a whole number of percent"),
        ("aa", &["--threshold", "0%"], "`0%` is not from 1% to 100%"),
        ("aa", &["--threshold", "67"], "`67` has no unit: write `67%`"),
    ] {
        let env = panel(members);
        let (_, err) = finish(&env, &[&["vote", "Should it?"], options].concat(), 2);
        assert!(err.contains(told), "{err}");
        assert!(env.sessions().is_empty());
    }
}

#[test]
fn the_bar_comes_from_the_nearest_layer() {
    let bar = |env: &TestEnv, options: &[&str]| {
        let args = [&["vote", "Should it be merged?"], options].concat();
        env.team(&args).output().unwrap();
        env.session().json("verdict.json")["threshold"].as_str().unwrap().to_owned()
    };
    let env = panel("aa");
    assert_eq!(bar(&env, &[]), "majority");
    let env = panel("aa");
    env.write(".claude/multimodel-team.json", r#"{"defaultThreshold": "Supermajority"}"#);
    assert_eq!(bar(&env, &[]), "supermajority");
    let env = panel("aa");
    env.write(".claude/multimodel-team.json", r#"{"defaultThreshold": 60}"#);
    let own = std::fs::read_to_string(env.path("team.toml")).unwrap();
    env.write("team.toml", format!("threshold = \"75%\"\n{own}"));
    assert_eq!(bar(&env, &[]), "75%");
    let env = panel("aa").set("TEAM_THRESHOLD", "80%");
    env.write("team.toml", format!("threshold = \"75%\"\n{own}"));
    assert_eq!(bar(&env, &[]), "80%");
    let env = panel("aa").set("TEAM_THRESHOLD", "80%");
    assert_eq!(bar(&env, &["--threshold", "unanimous"]), "unanimous");
    let env = panel("aa").set("TEAM_THRESHOLD", "most");
    let (_, err) = finish(&env, &["vote", "Should it?"], 2);
    assert!(err.contains("$TEAM_THRESHOLD") && err.contains("`most`"), "{err}");
}

#[test]
fn events_go_to_standard_output_where_they_are_asked_for_and_name_nobody() {
    let env = panel("aar");
    let (out, err) = finish(&env, &["vote", "Should it?", "--json"], 0);
    let session = env.session();
    let events: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), session.events().len());
    assert_eq!(events.iter().filter(|event| event["event"] == "ballot").count(), 3);
    for model in ["m1", "m2", "m3"] {
        assert!(!out.contains(model) && !err.contains(model), "{model}\n{out}\n{err}");
    }
    assert!(err.contains("APPROVED: 2 of 3 valid votes approve"), "{err}");
}

#[test]
fn at_the_deadline_the_votes_that_came_are_counted_and_the_quorum_says_whether_they_suffice() {
    for (members, code, decision) in [(["a", "a"], 0, "APPROVED"), (["a", "f"], 3, "INCONCLUSIVE")] {
        let step = |does: &str| if does == "a" { says("APPROVE", "Good.", &[]) } else { "exit 3".to_owned() };
        let config = TeamToml::new()
            .agent("one", &["swallow", &step(members[0])])
            .agent("two", &["swallow", &step(members[1])])
            .agent("slow", &["swallow", "hang"])
            .panel(&["one", "two", "slow"]);
        let env = TestEnv::with(&config);
        let (session, verdict) = vote(&env, &["--deadline", "3s"], code);
        assert_eq!(session.slot(&session.id_of("slow"))["state"], "TIMEOUT");
        assert_eq!(verdict["decision"], decision);
        assert_eq!(session.json("session-meta.json")["status"], "completed");
    }
}

#[test]
fn a_vote_is_shown_and_listed_and_is_not_judged() {
    let env = panel("aar");
    let (session, _) = vote(&env, &["--name", "Release gate"], 0);
    assert!(session.id().starts_with("team-release-gate-"), "{}", session.id());
    assert!(finish(&env, &["list"], 0).0.contains(&session.id()));
    assert!(finish(&env, &["show"], 0).0.starts_with("# Verdict: APPROVED\n"));
    assert!(finish(&env, &["status"], 0).0.contains("completed"));
    let shown: serde_json::Value = serde_json::from_str(&finish(&env, &["show", "--json"], 0).0).unwrap();
    assert_eq!(shown["verdict"]["decision"], "APPROVED");
    let ballots = env.write("ballots.txt", "01: APPROVE");
    let pattern = "(?<answer>\\d\\d): (?<verdict>\\w+)";
    for judge in [
        &["judge"][..],
        &["judge", "latest", "--judges", "m1,m2"],
        &["judge", "latest", "--import", ballots.to_str().unwrap(), "--import-pattern", pattern],
    ] {
        let before = session.files();
        let (_, err) = finish(&env, judge, 2);
        assert!(err.contains("is a vote on a task") && err.contains("team vote"), "{err}");
        assert_eq!(session.files(), before);
    }
}
