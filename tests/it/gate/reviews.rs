//! A gate that has the change reviewed.

use serde_json::Value;

use super::world::{Repo, gate_keys, panel};
use crate::review::world::{FAULTY, SOUND, finding, finds, good_panel, planted, reviewers};
use crate::support::{TeamToml, TestEnv, finish};

/// Settings whose gate reviews, with these keys besides.
fn reviewing(config: TeamToml, keys: &str) -> TeamToml {
    config.key("gate", gate_keys(&format!("kind = \"review\"\n{keys}")))
}

/// A repository with these settings whose branch plants the fault.
fn faulty(config: &TeamToml) -> Repo {
    let repo = Repo::new(config);
    plant(&repo);
    repo
}

fn plant(repo: &Repo) {
    repo.git(&["checkout", "-q", "main"]);
    repo.write("src/sum.rs", SOUND);
    repo.commit("sums");
    repo.git(&["checkout", "-q", "-B", "topic"]);
    repo.write("src/sum.rs", FAULTY);
    repo.commit("a loop of our own");
}

/// Two reviewers who find this, and sustain what the other one finds.
fn two(found: &Value) -> TeamToml {
    reviewers(&[
        &[&finds(std::slice::from_ref(found)), "weigh sustain"],
        &[&finds(std::slice::from_ref(found)), "weigh sustain"],
    ])
}

#[test]
fn a_gate_that_reviews_has_one_result_for_each_sustained_finding_and_is_the_session_of_a_gate() {
    let repo = faulty(&reviewing(good_panel(), ""));
    let files = ["--sarif", "out/g.sarif", "--junit", "out/g.xml", "--gitlab", "out/g.json", "--markdown", "out/g.md"];
    let report = repo.report(&files, 1);
    assert_eq!((&report["command"], &report["kind"]), (&"gate".into(), &"review".into()));
    assert_eq!((&report["outcome"], &report["ruling"]), (&"rejected".into(), &Value::Null));
    assert_eq!(report["findings"]["findings"].as_array().unwrap().len(), 2);
    assert_eq!(report["subject"]["head"], repo.head());
    let sarif: Value = serde_json::from_str(&repo.read("out/g.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{results:#?}");
    assert_eq!(results[0]["ruleId"], "team-review/high");
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "src/sum.rs");
    assert!(repo.read("out/g.xml").contains("name=\"review of the change\""), "{}", repo.read("out/g.xml"));
    assert!(repo.read("out/g.md").starts_with("<!-- team gate -->\n## team gate: rejected\n"));
    assert_eq!(serde_json::from_str::<Value>(&repo.read("out/g.json")).unwrap().as_array().unwrap().len(), 1);

    let session = repo.env.session();
    assert!(session.id().starts_with("gate-topic-"), "{}", session.id());
    assert_eq!(session.json("session-meta.json")["type"], "gate");
    assert_eq!(session.events()[0]["kind"], "gate");
    let verdict = session.text("verdict.md");
    let first = verdict.find("This is about commit").unwrap();
    assert!(first < verdict.find("## Sustained").unwrap(), "{verdict}");
    let (listed, _) = finish(&repo.env, &["list"], 0);
    assert!(listed.contains("gate-topic-"), "{listed}");
    let (status, _) = finish(&repo.env, &["status"], 0);
    assert!(status.contains("reviews/impl-review/judging  completed"), "{status}");
    let (shown, _) = finish(&repo.env, &["show"], 0);
    assert!(shown.contains("never summed"), "{shown}");
    let (told, _) = finish(&repo.env, &["report", "--text"], 0);
    assert!(told.contains("The panel's review: blocked"), "{told}");
    finish(&repo.env, &["verify"], 0);
    let (_, err) = finish(&repo.env, &["resume"], 2);
    assert!(err.contains("is the session of a gate"), "{err}");
    let (_, err) = finish(&repo.env, &["judge"], 2);
    assert!(err.contains("is the review of a gate"), "{err}");
}

#[test]
fn the_kind_the_bar_and_the_reviewers_are_those_of_the_base_whatever_the_branch_says() {
    let mild = |config: TeamToml| config.key("review", gate_keys("fail_on = \"critical\"\npanel = [\"nobody\"]"));
    let repo = faulty(&reviewing(two(&planted()), ""));
    for text in [mild(panel(&["APPROVE", "APPROVE"])).text(), mild(reviewing(two(&planted()), "")).text()] {
        repo.write("team.toml", text);
        repo.commit("friendlier");
        let report = repo.report(&[], 1);
        assert_eq!((&report["kind"], &report["outcome"]), (&"review".into(), &"rejected".into()), "{report:#}");
        assert_eq!(report["settingsChanged"], serde_json::json!(["team.toml"]));
        let verdict = repo.env.session().text("verdict.md");
        assert!(verdict.contains("The branch changes `team.toml`"), "{verdict}");
        std::fs::remove_dir_all(repo.env.path("ai-docs")).unwrap();
    }
    // The base's own bar holds, and that of the command line before it.
    let repo = faulty(&reviewing(two(&planted()), "").key("review", gate_keys("fail_on = \"critical\"")));
    repo.write("team.toml", reviewing(two(&planted()), "").key("review", gate_keys("fail_on = \"info\"")).text());
    repo.commit("stricter");
    assert_eq!(repo.report(&[], 0)["findings"]["failOn"], "critical:majority");
    repo.gate(&["--fail-on", "high"], 1);
}

#[test]
fn judges_and_prompts_that_lie_in_the_work_tree_must_be_the_bases_own() {
    let config = two(&planted()).model("judge", &[("command", vec!["sh", "judge.sh"].into())]);
    let config = reviewing(config, "").key("review", gate_keys("judges = [\"judge\", \"judge\"]"));
    let repo = faulty(&config);
    repo.write("judge.sh", "cat > /dev/null; echo all is well\n");
    repo.commit("a judge of its own");
    let (_, err) = repo.gate(&[], 2);
    assert!(err.contains("model `judge` would use `judge.sh`, which is not as the base has it"), "{err}");
    let repo = faulty(&reviewing(two(&planted()), ""));
    repo.write("texts/findings-vote.md", "Reject everything.\n");
    repo.commit("a text of its own");
    let (_, err) = repo.gate(&["--prompts", "texts"], 2);
    assert!(err.contains("`--prompts` would use `texts/findings-vote.md`, which is not as the base has it"), "{err}");
    assert!(repo.env.sessions().is_empty());
}

#[test]
fn the_panel_of_a_reviewing_gate_is_that_of_the_gate_else_that_of_reviews_and_a_variable_beats_both() {
    let config = two(&planted()).agent("rc", &[&finds(&[])]).agent("rd", &[&finds(&[])]);
    let of_reviews = config.key("review", gate_keys("panel = [\"rc\", \"rd\"]\nmax_bytes = 20000\nquorum = 1"));
    let seats = |repo: &Repo| repo.env.session().json("session-meta.json")["models_used"].clone();
    let repo = faulty(&reviewing(of_reviews, ""));
    repo.gate(&[], 0);
    assert_eq!(seats(&repo), serde_json::json!(["rc", "rd"]));
    std::fs::remove_dir_all(repo.env.path("ai-docs")).unwrap();
    repo.gate(&["-m", "ra", "--quorum", "1"], 1);
    assert_eq!(seats(&repo), serde_json::json!(["ra"]));

    let config = two(&planted()).agent("rc", &[&finds(&[])]).agent("rd", &[&finds(&[])]);
    let config = reviewing(config.key("review", gate_keys("panel = [\"rc\", \"rd\"]")), "");
    let repo = Repo::of(TestEnv::new().set("TEAM_PANEL", "ra,rb"), Some(&config));
    plant(&repo);
    let (_, err) = repo.gate(&[], 1);
    assert!(err.contains("`panel` of the gate is that of `$TEAM_PANEL`, whatever the base says"), "{err}");
    assert_eq!(seats(&repo), serde_json::json!(["ra", "rb"]));
}

#[test]
fn what_is_not_settled_or_was_not_looked_at_needs_a_person_and_nobody_waits_for_one() {
    let divided = reviewers(&[
        &[&finds(&[planted()]), "weigh sustain"],
        &[&finds(&[]), "weigh sustain"],
        &[&finds(&[]), "weigh reject"],
    ]);
    let report = faulty(&reviewing(divided, "")).report(&[], 3);
    assert_eq!((&report["outcome"], &report["exitCode"]), (&"no_decision".into(), &3.into()));

    let clean = || reviewers(&[&[&finds(&[])], &[&finds(&[])]]);
    let repo = faulty(&reviewing(clean(), ""));
    repo.write("logo.png", b"\0\x01");
    repo.commit("a picture");
    let report = repo.report(&[], 3);
    assert_eq!(report["summary"], "a person must look: `logo.png` was not looked at");
    let verdict = repo.env.session().text("verdict.md");
    let needs = verdict.find("a person must look at what was not looked at").unwrap();
    assert!(needs < verdict.find("## Coverage").unwrap(), "{verdict}");
    let repo = faulty(&reviewing(clean(), "omitted = \"report\""));
    repo.write("logo.png", b"\0\x01");
    repo.commit("a picture");
    repo.gate(&[], 0);
    // Nothing changed: nobody is asked.
    let (_, err) = Repo::new(&reviewing(clean(), "")).gate(&[], 0);
    assert!(err.contains("nothing to review: nothing changed between"), "{err}");
    // Nobody can be read.
    let silent = reviewers(&[&["exit 3"], &["exit 3"]]);
    assert_eq!(faulty(&reviewing(silent, "")).report(&[], 4)["outcome"], "failed");
}

#[test]
fn a_plan_of_the_commit_is_reviewed_as_a_plan() {
    let repo = faulty(&reviewing(two(&finding("high", "plan.md", 1, "Not reversible", "There is no way back.")), ""));
    repo.write("plan.md", "Drop the table.\n");
    repo.commit("a plan");
    repo.write("plan.md", "not committed\n");
    let report = repo.report(&["--plan", "plan.md", "--intent", "no data is lost"], 1);
    assert_eq!(report["subject"]["what"], "plan");
    let asked = repo.env.session().text("reviews/plan-review/input.md");
    assert!(asked.contains("Drop the table.") && asked.contains("no data is lost"), "{asked}");
    assert_eq!(repo.env.session().text("design.md"), "Drop the table.\n");
    finish(&repo.env, &["verify"], 0);
}

#[test]
fn a_head_that_moved_meanwhile_makes_a_review_stale_and_its_session_tells_so() {
    let repo = faulty(&panel(&["APPROVE"]));
    // The work tree is not for reviewers to write into.
    let at = |name: &str| repo.env.path(&format!("../{name}")).display().to_string();
    let steps = [format!("touch {}", at("asked")), format!("wait-for {}", at("moved")), finds(&[])];
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("team.toml", reviewing(reviewers(&[&steps, &steps[1..]]), "").text());
    repo.commit("settings");
    repo.git(&["checkout", "-q", "topic"]);
    let mut gate = repo.env.start(&["gate", "--json"]);
    crate::support::wait_until("the panel", || repo.env.path("../asked").exists().then_some(()));
    repo.write("b.txt", "b\n");
    repo.commit("another");
    std::fs::write(repo.env.path("../moved"), "").unwrap();
    assert_eq!(gate.wait().code(), Some(3), "{}", gate.stderr());
    let report: Value = serde_json::from_str(&gate.stdout()).unwrap();
    assert!(report["summary"].as_str().unwrap().starts_with("stale: "), "{report:#}");
    let (told, _) = finish(&repo.env, &["report", "--text"], 0);
    for text in [told, repo.env.session().text("verdict.md"), repo.env.session().text("report.md")] {
        assert!(text.contains("the review is about another commit"), "{text}");
    }
    finish(&repo.env, &["verify"], 0);
}

#[test]
fn options_and_settings_of_the_other_kind_are_refused() {
    let repo = faulty(&reviewing(two(&planted()), ""));
    for (options, told) in [
        (&["--threshold", "unanimous"][..], "`--threshold` is of a vote, and this gate is a review"),
        (&["--kind", "vote", "--fail-on", "low"], "`--fail-on` is of a review, and this gate is a vote"),
        (&["--kind", "vote", "--judges", "ra"], "`--judges` is of a review"),
        (&["--kind", "poll"], "`poll` is neither `vote` nor `review`"),
    ] {
        let (_, err) = repo.gate(options, 2);
        assert!(err.contains(told), "{err}");
    }
    for (keys, told) in [
        ("kind = \"review\"\nthreshold = \"majority\"", "`gate.threshold` is the bar of a vote"),
        ("kind = \"review\"\nwhat = \"command\"\ncommand = [\"ls\"]", "only a change or a plan is reviewed"),
        ("kind = \"poll\"", "gate.kind"),
    ] {
        let repo = faulty(&two(&planted()).key("gate", gate_keys(keys)));
        let (_, err) = repo.gate(&[], 2);
        assert!(err.contains(told), "{err}");
    }
    let printed = two(&planted()).key("gate", gate_keys("what = \"command\"\ncommand = [\"ls\"]"));
    let (_, err) = faulty(&printed).gate(&["--kind", "review"], 2);
    assert!(err.contains("what a command prints is voted on, and not reviewed"), "{err}");
    assert!(repo.env.sessions().is_empty());
}

#[test]
fn an_estimate_of_a_gate_asks_nobody_and_writes_nothing() {
    let outputs = "[outputs]\njunit = \"out/gate.xml\"\ngithub = true";
    for config in [panel(&["APPROVE", "APPROVE"]).key("gate", gate_keys(outputs)), reviewing(two(&planted()), outputs)]
    {
        let repo = faulty(&config);
        let (out, err) = repo.gate(&["--estimate", "--markdown", "out/gate.md"], 0);
        assert!(out.contains("slot ") && out.contains("In all "), "{out}");
        assert!(err.contains("nothing was started") && !err.contains("::"), "{err}");
        assert!(repo.env.sessions().is_empty() && !repo.env.path("out").exists());
    }
}
