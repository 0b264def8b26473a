//! What the votes of a panel come to.

use super::world::{Repo, panel, vote};
use crate::support::{TeamToml, assert_consistent, finish};

#[test]
fn an_approved_change_ends_with_0_and_the_verdict_names_the_commit_and_every_file() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE", "REJECT"]));
    repo.write("docs/a b.md", "text\n");
    let head = repo.commit("more");
    let (out, err) = repo.gate(&[], 0);
    assert!(out.contains("APPROVED") && out.contains(&head), "{out}");
    assert!(out.contains("2 of 2 changed files were looked at"), "{out}");
    assert!(err.contains("session: "), "{err}");
    let session = repo.env.session();
    assert!(session.id().starts_with("gate-topic-"), "{}", session.id());
    assert_eq!(session.json("session-meta.json")["type"], "gate");
    assert_eq!(session.text("verdict.md"), out);
    let asked = repo.asked();
    assert!(asked.contains("+fn two() {}") && asked.contains("+text"), "{asked}");
    assert!(!asked.contains("team.toml"), "{asked}");
    assert_consistent(&session);
}

#[test]
fn a_rejection_ends_with_1_and_what_decides_nothing_with_3() {
    let rejected = Repo::changed(&panel(&["REJECT", "REJECT", "APPROVE"]));
    let report = rejected.report(&[], 1);
    assert_eq!((&report["outcome"], &report["exitCode"]), (&"rejected".into(), &1.into()));
    let ruling = &report["ruling"];
    assert_eq!((&ruling["rejections"], &ruling["quorum"]), (&2.into(), &2.into()));
    let split = Repo::changed(&panel(&["REJECT", "APPROVE"]));
    assert_eq!(split.report(&[], 3)["outcome"], "no_decision");
    let silent = Repo::changed(&panel(&["ABSTAIN", "APPROVE", "ABSTAIN"]));
    assert_eq!(silent.report(&[], 3)["ruling"]["decision"], "inconclusive");
}

#[test]
fn the_bar_and_the_quorum_of_the_command_line_decide_over_those_of_the_base() {
    let config =
        panel(&["APPROVE", "APPROVE", "REJECT"]).key("gate", super::world::gate_keys("threshold = \"unanimous\""));
    let repo = Repo::changed(&config);
    assert_eq!(repo.report(&[], 3)["ruling"]["threshold"], "unanimous");
    assert_eq!(repo.report(&["--threshold", "60%"], 0)["ruling"]["threshold"], "60%");
    repo.gate(&["--quorum", "4"], 2);
}

#[test]
fn a_panel_of_which_nobody_answers_ends_with_4_and_one_that_lacks_a_member_does_when_strict() {
    let none = Repo::changed(&TeamToml::new().agent("ma", &["exit 3"]).agent("mb", &["exit 3"]).panel(&["ma", "mb"]));
    assert_eq!(none.report(&[], 4)["outcome"], "failed");
    let config = panel(&["APPROVE", "APPROVE"]).agent("mc", &["exit 3"]).panel(&["ma", "mb", "mc"]);
    let repo = Repo::changed(&config);
    let report = repo.report(&[], 0);
    let members = report["ruling"]["members"].as_array().unwrap();
    let lost = members.iter().find(|member| member["model"] == "mc").unwrap();
    assert!(lost["vote"].is_null() && lost["summary"].as_str().unwrap().contains("FAILED"), "{lost}");
    assert_eq!(repo.report(&["--strict"], 4)["outcome"], "failed");
}

#[test]
fn where_nothing_changed_nobody_is_asked_and_it_passes_and_says_so() {
    let repo = Repo::new(&panel(&["REJECT", "REJECT"]));
    let (out, err) = repo.gate(&["--junit", "out/gate.xml"], 0);
    assert_eq!(out, "");
    assert!(err.contains("nothing changed between `main` and `HEAD`"), "{err}");
    assert!(repo.env.sessions().is_empty());
    let junit = repo.read("out/gate.xml");
    assert!(junit.contains("<testcase ") && junit.contains("<skipped "), "{junit}");
}

#[test]
fn a_head_that_moved_while_the_panel_was_at_work_is_stale_whatever_the_votes() {
    for verdict in ["APPROVE", "REJECT"] {
        let steps = ["touch asked", "wait-for moved", &vote(verdict, "Fine.")];
        let at = |repo: &Repo, name: &str| repo.env.project().join(name).display().to_string();
        let repo = Repo::new(&TeamToml::new());
        let steps: Vec<String> = steps
            .iter()
            .map(|step| match step.split_once(' ') {
                Some((word @ ("touch" | "wait-for"), name)) => format!("{word} {}", at(&repo, &format!("out/{name}"))),
                _ => (*step).to_owned(),
            })
            .collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        std::fs::create_dir(repo.env.path("out")).unwrap();
        repo.git(&["checkout", "-q", "main"]);
        let config = TeamToml::new().agent("ma", &steps).agent("mb", &steps[1..]).panel(&["ma", "mb"]);
        repo.write("team.toml", config.text());
        repo.commit("settings");
        repo.git(&["checkout", "-q", "-B", "topic"]);
        repo.write("a.txt", "a\n");
        let first = repo.commit("change");
        let mut gate = repo.env.start(&["gate", "--json"]);
        crate::support::wait_until("the panel", || repo.env.path("out/asked").exists().then_some(()));
        repo.write("b.txt", "b\n");
        repo.commit("another");
        repo.write("out/moved", "");
        let ended = gate.wait();
        assert_eq!(ended.code(), Some(3), "{}", gate.stderr());
        let report: serde_json::Value = serde_json::from_str(&gate.stdout()).unwrap();
        assert_eq!(report["subject"]["head"], first);
        assert!(report["summary"].as_str().unwrap().starts_with("stale: "), "{report:#}");
        // The session knows it too.
        let (told, _) = crate::support::finish(&repo.env, &["report", "--text"], 0);
        for text in [&told, &repo.env.session().text("verdict.md")] {
            assert!(text.contains("stale: `HEAD` is"), "{text}");
        }
        crate::support::finish(&repo.env, &["verify"], 0);
        // The votes are on record all the same.
        assert_eq!(report["ruling"]["members"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn changes_that_are_not_committed_are_not_looked_at_and_that_is_told() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    repo.write("src/lib.rs", "fn uncommitted() {}\n");
    let (out, err) = repo.gate(&[], 0);
    assert!(!repo.asked().contains("uncommitted"));
    for text in [&out, &err] {
        assert!(text.contains("changes that are not committed were not looked at"), "{text}");
    }
}

#[test]
fn a_gates_session_is_run_again_and_never_resumed() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    repo.gate(&[], 0);
    let (_, err) = finish(&repo.env, &["resume"], 2);
    assert!(err.contains("`team gate`"), "{err}");
}

#[test]
fn a_gate_whose_time_is_up_ends_without_a_decision_and_every_process_of_it_with_it() {
    let config = panel(&["APPROVE"]).agent("mb", &["hang"]).panel(&["ma", "mb"]);
    let repo = Repo::changed(&config.key("gate", super::world::gate_keys("deadline = \"1s\"")));
    let report = repo.report(&["--junit", "out/gate.xml"], 3);
    assert_eq!(report["outcome"], "no_decision");
    assert!(report["details"].to_string().contains("stopped"), "{report:#}");
    assert!(repo.read("out/gate.xml").contains("<error "));
    repo.env.wait_for_no_processes();
}

#[test]
fn a_gate_that_has_spent_what_it_may_asks_nobody_else_and_approves_nothing() {
    let step = r#"print {"type":"result","subtype":"success","is_error":false,"result":"```vote\\nVERDICT: APPROVE\\nCONFIDENCE: 8\\nSUMMARY: s\\nKEY_ISSUES: None\\n```","total_cost_usd":2.0,"usage":{"input_tokens":1,"output_tokens":1}}"#;
    let config = TeamToml::new()
        .agent_with("dear", &[step], &[("output", "claude-stream-json".into())])
        .panel(&["dear", "dear"])
        .key("gate", super::world::gate_keys("max_cost = 1.5"));
    let repo = Repo::changed(&config);
    let report = repo.report(&["--jobs", "1"], 3);
    let ruling = &report["ruling"];
    assert_eq!((&ruling["approvals"], &ruling["missing"]), (&1.into(), &1.into()), "{report:#}");
    assert_eq!(repo.report(&["--jobs", "1", "--max-cost", "5"], 0)["outcome"], "approved");
}
