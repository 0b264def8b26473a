//! Ballots that are fair: authors that name themselves, two passes, the repair turn, judges that recuse themselves.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Session, TeamToml, TestEnv, assert_consistent, finish, judges, run_and_judge, voters, wait_until,
};

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Every prompt of the newest round's first pass.
fn prompts(round: &Session) -> Vec<String> {
    let names = round.files().into_iter().filter(|file| file.starts_with("prompt-"));
    names.map(|file| round.text(&file)).collect()
}

/// Three answers, of which one names its author, in prose and in code, and one is about models.
fn telling() -> TestEnv {
    TestEnv::with(&voters(&[
        ("kiwi", "I am **kiwi**, made by Anthropic.\\n```\\nCo-Authored-By: Claude <c@d>\\n```", "approve"),
        ("plum", "Claude is a model, and GPT-4 is another.", "approve"),
        ("pear", "neither of them", "approve"),
    ]))
}

#[test]
fn an_author_that_names_itself_is_masked_for_the_judges_and_counted() {
    let env = telling();
    let (out, _) = run_and_judge(&env, &[], 0);
    let session = env.session();
    let kiwi = session.id_of("kiwi");
    let seen: Vec<String> = prompts(&session.round("judging")).into_iter().filter(|p| p.contains("I am")).collect();
    assert_eq!(seen.len(), 2);
    for prompt in seen {
        assert!(
            prompt.contains("I am **[model]**, made by [model].\n```\nCo-Authored-By: Claude <c@d>\n```\n"),
            "{prompt}"
        );
        assert!(!prompt.contains("kiwi") && !prompt.contains("Anthropic"), "{prompt}");
    }
    assert!(session.text(&format!("response-{kiwi}.md")).starts_with("I am **kiwi**, made by Anthropic."));
    let verdict = session.json("verdict.json");
    assert_eq!(verdict["leaks"], "mask");
    let of = |name: &str| {
        let id = session.id_of(name);
        verdict["answers"].as_array().unwrap().iter().find(|answer| answer["id"] == *id).unwrap()["leaks"].clone()
    };
    assert_eq!(of("kiwi"), json!({"masked": 2, "shown": 1, "mentions": 0}));
    assert_eq!(of("plum"), json!({"masked": 0, "shown": 0, "mentions": 2}));
    assert!(out.contains(&format!("answer {kiwi}, 2 times masked for the judges and 1 time left in code")), "{out}");
    let plum = session.id_of("plum");
    assert!(
        out.contains(&format!("answer {plum} has 2 names of models or vendors that it does not call its own")),
        "{out}"
    );
    assert_consistent(&session);
}

#[test]
fn talk_about_models_is_shown_as_it_is() {
    let env = telling();
    run_and_judge(&env, &[], 0);
    let seen = prompts(&env.session().round("judging"));
    assert_eq!(seen.iter().filter(|p| p.contains("\nClaude is a model, and GPT-4 is another.\n")).count(), 2);
}

#[test]
fn with_flag_the_names_are_shown_and_told() {
    let env = telling();
    let (out, _) = run_and_judge(&env, &["--leaks", "flag"], 0);
    let session = env.session();
    let seen = prompts(&session.round("judging"));
    assert_eq!(seen.iter().filter(|p| p.contains("I am **kiwi**, made by Anthropic.")).count(), 2);
    assert!(out.contains("3 times left as it is (`--leaks flag`)") || out.contains("3 times left as it is;"), "{out}");
    assert_consistent(&session);
}

#[test]
fn with_fail_an_answer_that_names_its_author_is_left_out_and_the_panel_is_partial() {
    let env = telling();
    let (out, _) = run_and_judge(&env, &["--leaks", "fail"], 0);
    let session = env.session();
    let kiwi = session.id_of("kiwi");
    let verdict = session.json("verdict.json");
    assert_eq!(verdict["leftOut"], json!([kiwi]));
    assert_eq!(verdict["answers"].as_array().unwrap().len(), 2);
    assert!(out.starts_with("# Verdict of a partial panel\n"), "{out}");
    assert!(out.contains(&format!("answer {kiwi} left out for naming its author")), "{out}");
    assert!(prompts(&session.round("judging")).iter().all(|prompt| !prompt.contains("Co-Authored-By")));
    assert_consistent(&session);
}

#[test]
fn with_fail_and_fewer_than_two_answers_left_nobody_is_asked() {
    let env = telling();
    let (_, err) = run_and_judge(&env, &["-m", "kiwi,plum", "--leaks", "fail"], 3);
    assert!(err.contains("1 of 2 answers do not name their author") && err.contains("a vote needs two"), "{err}");
    let session = env.session();
    assert!(!session.has("judging"));
    // The answers are kept, and another rule judges them.
    finish(&env, &["judge", "--leaks", "mask", "--judges", "pear"], 0);
    assert_consistent(&session);
}

fn two_answers() -> TeamToml {
    voters(&[("kiwi", "the RIGHT one", "approve"), ("plum", "the other one", "approve")])
}

/// Two answers, and judges of other models.
fn bench(rules: &[(&str, &[&str])]) -> TestEnv {
    TestEnv::with(&rules.iter().fold(two_answers(), |config, (name, steps)| config.agent(name, steps)))
}

/// A judge that is a shell script; `$0` is the fake agent.
fn shell(config: TeamToml, name: &str, script: &str, arguments: &[&str]) -> TeamToml {
    let command = ["sh", "-c", script, env!("CARGO_BIN_EXE_fake-agent")].into_iter().chain(arguments.iter().copied());
    config.model(name, &[("command", toml::Value::Array(command.map(toml::Value::from).collect()))])
}

#[test]
fn the_second_pass_shows_the_same_answers_in_reverse_order_under_new_names() {
    let env = bench(&[("fair", &["vote approve-word RIGHT"]), ("firm", &["vote approve"])]);
    run_and_judge(&env, &["--judges", "fair,firm", "--passes", "2"], 0);
    let session = env.session();
    let round = session.round("judging");
    assert_eq!(session.json("verdict.json")["passes"], 2);
    for (name, judge) in judges(&round) {
        let second = &judge["secondPass"];
        let mut reversed = strings(&second["order"]);
        reversed.reverse();
        assert_eq!(reversed, strings(&judge["order"]), "{name}");
        let names = |pass: &Value| -> BTreeSet<String> {
            pass["aliases"].as_object().unwrap().values().map(|alias| alias.as_str().unwrap().to_owned()).collect()
        };
        assert!(names(&judge).is_disjoint(&names(second)), "{name}");
        assert_ne!(judge["nonce"], second["nonce"]);
        let id = judge["id"].as_str().unwrap();
        let prompt = round.text(&format!("pass-2/prompt-{id}.md"));
        let heads: Vec<&str> = prompt.lines().filter_map(|line| line.strip_prefix("### Response ")).collect();
        let expected: Vec<&str> =
            strings(&second["order"]).iter().map(|id| second["aliases"][id].as_str().unwrap()).collect();
        assert_eq!(heads, expected);
        assert!(round.has(&format!("pass-2/response-{id}.md")));
    }
    let counted = &session.json("verdict.json")["ballots"];
    assert_eq!((&counted["cast"], &counted["inconsistent"]), (&json!(4), &json!(0)));
    assert_consistent(&session);
}

#[test]
fn a_vote_that_flips_with_the_order_is_none_and_counted_per_judge() {
    let env = bench(&[
        ("biased", &["vote approve-first"]),
        ("fair", &["vote approve-word RIGHT"]),
        ("firm", &["vote approve-word RIGHT"]),
    ]);
    let (out, _) = run_and_judge(&env, &["--judges", "biased,fair,firm", "--passes", "2"], 0);
    let session = env.session();
    let verdict = session.json("verdict.json");
    let biased = session.round("judging").id_of("biased");
    assert_eq!(verdict["winner"], session.id_of("kiwi"));
    let ballots = &verdict["ballots"];
    assert_eq!((&ballots["cast"], &ballots["inconsistent"], &ballots["missing"]), (&json!(4), &json!(2), &json!(0)));
    let flips = verdict["inconsistentVotes"].as_array().unwrap();
    assert!(flips.len() == 2 && flips.iter().all(|vote| vote["judge"] == *biased), "{flips:?}");
    for judge in verdict["judges"].as_array().unwrap() {
        let is_biased = judge["judge"] == *biased;
        assert_eq!(judge["flips"], if is_biased { 2 } else { 0 });
        assert_eq!(judge["lean"]["effect"], if is_biased { json!(1.0) } else { Value::Null });
    }
    assert!(out.contains(&format!("| {biased} | biased | 0 | 0 | 2 | 1.00 | 2 | 0.50 |")), "{out}");
    assert!(out.contains("in one order and") && out.contains("| flipped |"), "{out}");
    assert_consistent(&session);
}

#[test]
fn a_judge_that_fails_in_its_first_pass_is_not_asked_again_and_one_that_fails_in_the_second_has_no_votes() {
    let config = two_answers().agent("fair", &["vote approve"]).agent("dead", &["exit 3"]);
    // Its prompts are of one length, and only the first one is the first.
    let script = "if [ -e \"$1\" ]; then exit 3; fi; touch \"$1\"; exec \"$0\" 'vote approve'";
    let seen = tempfile::tempdir().unwrap();
    let seen = seen.path().join("seen").display().to_string();
    let env = TestEnv::with(&shell(config, "half", script, &[&seen]));
    let (out, _) = run_and_judge(&env, &["--judges", "fair,dead,half", "--passes", "2"], 3);
    let session = env.session();
    let round = session.round("judging");
    let (dead, half) = (round.id_of("dead"), round.id_of("half"));
    assert!(!round.has(&format!("pass-2/prompt-{dead}.md")));
    assert!(round.has(&format!("pass-2/errors/{half}.log")));
    let verdict = session.json("verdict.json");
    let missing: BTreeSet<String> = verdict["missingJudges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seat| seat["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(missing, [dead, half.clone()].into_iter().collect());
    assert!(verdict["missingVotes"].as_array().unwrap().iter().any(|vote| vote["reason"] == "secondPassFailed"));
    assert!(out.contains(&format!("(log: `judging/pass-2/errors/{half}.log`)")), "{out}");
    assert_consistent(&session);
}

#[test]
fn a_ballot_that_cannot_be_read_is_asked_for_once_more_and_only_for_what_is_missing() {
    let env = bench(&[
        ("vague", &["vote first garbage", "vote again approve"]),
        ("lazy", &["vote first missing", "vote again reject"]),
        ("fair", &["vote approve"]),
    ]);
    let (out, _) = run_and_judge(&env, &["--judges", "vague,lazy,fair"], 0);
    let session = env.session();
    let round = session.round("judging");
    let (vague, lazy, fair) = (round.id_of("vague"), round.id_of("lazy"), round.id_of("fair"));
    assert!(!round.has(&format!("repair/prompt-{fair}.md")), "nothing is missing of it");
    let by_name = judges(&round);
    for (name, id, asked) in [("vague", &vague, 2), ("lazy", &lazy, 1)] {
        let judge = &by_name[name];
        assert_eq!(judge["repair"]["asked"].as_array().unwrap().len(), asked, "{name}");
        assert_eq!(judge["repair"]["votes"].as_array().unwrap().len(), asked, "{name}");
        let prompt = round.text(&format!("repair/prompt-{id}.md"));
        let heads: BTreeSet<&str> = prompt.lines().filter_map(|line| line.strip_prefix("### Response ")).collect();
        let expected: Vec<String> = strings(&judge["repair"]["asked"]);
        let expected: BTreeSet<&str> = expected.iter().map(|id| judge["aliases"][id].as_str().unwrap()).collect();
        assert_eq!(heads, expected, "under the same names, and no other answer: {prompt}");
        assert!(prompt.contains("I read every answer."), "its own reply is shown to it: {prompt}");
    }
    let events: Vec<Value> = round.events();
    let opened = events.iter().find(|event| event["event"] == "turn_opened").unwrap();
    assert_eq!(opened["turn"], "repair");
    assert_eq!(strings(&opened["judges"]).len(), 2);
    assert!(events[0]["prompts"]["repair.md"].is_string(), "{}", events[0]);
    let verdict = session.json("verdict.json");
    assert_eq!((&verdict["ballots"]["cast"], &verdict["ballots"]["missing"]), (&json!(6), &json!(0)));
    assert!(out.contains(&format!("judge {lazy} was asked once more for its votes on")), "{out}");
    assert_consistent(&session);
}

#[test]
fn what_the_repair_turn_does_not_bring_is_missing() {
    let config = two_answers()
        .agent("vague", &["vote garbage"])
        .agent("fair", &["vote approve"])
        .agent("firm", &["vote approve"]);
    // Fails only when it is asked once more.
    let script = "p=$(cat); case \"$p\" in *'Your reply:'*) exit 1;; esac; printf '%s' \"$p\" | \"$0\" 'vote garbage'";
    let env = TestEnv::with(&shell(config, "broken", script, &[]));
    run_and_judge(&env, &["--judges", "vague,broken,fair,firm"], 0);
    let session = env.session();
    let round = session.round("judging");
    let by_name = judges(&round);
    assert_eq!(by_name["vague"]["repair"]["votes"], json!([]));
    assert_eq!(by_name["broken"]["repair"]["state"], "FAILED");
    assert_eq!(by_name["broken"]["state"], "COMPLETED");
    let verdict = session.json("verdict.json");
    assert_eq!((&verdict["ballots"]["cast"], &verdict["ballots"]["missing"]), (&json!(4), &json!(4)));
    assert!(verdict["missingVotes"].as_array().unwrap().iter().all(|vote| vote["reason"] == "noBallot"), "{verdict}");
    assert_consistent(&session);
}

#[test]
fn without_repair_and_for_two_different_votes_nobody_is_asked_again() {
    let env = bench(&[
        ("lazy", &["vote first missing", "vote again reject"]),
        ("torn", &["vote conflict"]),
        ("fair", &["vote approve"]),
    ]);
    run_and_judge(&env, &["--judges", "lazy,torn,fair", "--no-repair"], 0);
    assert!(!env.session().has("judging/repair"));
    finish(&env, &["judge", "--judges", "torn,torn,fair"], 0);
    let session = env.session();
    assert!(!session.has("judging-2/repair"), "two votes are what the judge said");
    assert_consistent(&session);
}

#[test]
fn the_repair_text_is_the_users_to_replace_and_a_place_that_it_lacks_is_named() {
    let env = bench(&[("vague", &["vote first garbage", "vote again approve"]), ("fair", &["vote approve"])]);
    env.write(
        "own/repair.md",
        "Once more, {{ count }}.\n{{ task }}\n{{ answers }}\nYour reply:\n{{ reply }}\n{{ ballot_format }}\n",
    );
    run_and_judge(&env, &["--judges", "vague,fair", "--prompts", "own"], 0);
    let session = env.session();
    let vague = session.round("judging").id_of("vague");
    assert!(session.text(&format!("judging/repair/prompt-{vague}.md")).starts_with("Once more, 2.\n"));
    env.write("own/repair.md", "{{ task }} {{ answers }} {{ ballot_format }}\n");
    let (_, err) = finish(&env, &["judge", "--judges", "vague,fair", "--prompts", "own"], 2);
    assert!(err.contains("`repair.md` must hold `{{ reply }}` exactly once"), "{err}");
}

#[test]
fn both_passes_have_a_repair_turn_of_their_own() {
    let env = bench(&[("lazy", &["vote first missing", "vote again approve"]), ("fair", &["vote approve"])]);
    run_and_judge(&env, &["--judges", "lazy,fair", "--passes", "2"], 0);
    let session = env.session();
    let round = session.round("judging");
    let lazy = &judges(&round)["lazy"];
    assert!(lazy["repair"]["votes"].as_array().unwrap().len() == 1 && lazy["secondPass"]["repair"].is_object());
    assert!(round.has("repair/votes.json") == round.has("pass-2/votes.json"), "votes are in one file");
    let ballots = &session.json("verdict.json")["ballots"];
    assert_eq!((&ballots["cast"], &ballots["inconsistent"], &ballots["missing"]), (&json!(4), &json!(0), &json!(0)));
    assert_consistent(&session);
}

#[test]
fn a_judge_of_a_second_pass_is_shown_at_work_and_can_be_cancelled_alone() {
    let config = two_answers().agent("fair", &["vote approve"]).agent("firm", &["vote approve"]);
    let script = "if [ -e \"$1\" ]; then exec \"$0\" hang; fi; touch \"$1\"; exec \"$0\" 'vote approve'";
    let seen = tempfile::tempdir().unwrap();
    let seen = seen.path().join("seen").display().to_string();
    let env = TestEnv::with(&shell(config, "slow", script, &[&seen]));
    let mut judging = env.start(&["run-and-judge", "Which one is it?", "--judges", "fair,firm,slow", "--passes", "2"]);
    let session = env.session_with("judging/pass-2/status.json");
    let second = session.round("judging/pass-2");
    let slow = session.round("judging").id_of("slow");
    wait_until("the second pass", || (second.slot(&slow)["state"] == "RUNNING").then_some(()));
    let (status, _) = finish(&env, &["status", "--json"], 0);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["round"]["status"]["models"][&slow]["state"], "RUNNING", "{status}");
    let (_, err) = finish(&env, &["cancel", "latest", &slow], 0);
    assert!(err.contains(&format!("judge {slow} of")) && err.contains("is CANCELLED"), "{err}");
    assert_eq!(judging.wait().code(), Some(0), "{}", judging.stderr());
    let verdict = session.json("verdict.json");
    assert_eq!(verdict["missingJudges"], json!([{"id": slow, "state": "CANCELLED"}]));
    assert_eq!(verdict["ballots"]["cast"], 4);
    assert_consistent(&session);
}

#[test]
fn a_second_pass_that_is_stopped_leaves_no_verdict_and_closed_records() {
    let config = two_answers().agent("fair", &["vote approve"]);
    let script = "if [ -e \"$1\" ]; then exec \"$0\" hang; fi; touch \"$1\"; exec \"$0\" 'vote approve'";
    let seen = tempfile::tempdir().unwrap();
    let seen = seen.path().join("seen").display().to_string();
    let env = TestEnv::with(&shell(config, "slow", script, &[&seen]));
    let mut judging = env.start(&["run-and-judge", "Which one is it?", "--judges", "fair,slow", "--passes", "2"]);
    let session = env.session_with("judging/pass-2/status.json");
    let second = session.round("judging/pass-2");
    let slow = session.round("judging").id_of("slow");
    wait_until("the second pass", || (second.slot(&slow)["state"] == "RUNNING").then_some(()));
    judging.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(judging.wait().code(), Some(130), "{}", judging.stderr());
    assert!(!session.has("verdict.json") && !session.has("judging/verdict.json"));
    assert_eq!(second.json("status.json")["state"], "cancelled");
    assert_eq!(session.json("judging/status.json")["state"], "cancelled");
    assert_consistent(&session);
}

#[test]
fn who_watches_is_told_every_turn_as_it_was_recorded() {
    let env = bench(&[("lazy", &["vote first missing", "vote again approve"]), ("fair", &["vote approve"])]);
    let (out, _) = run_and_judge(&env, &["--judges", "lazy,fair", "--passes", "2", "--json"], 0);
    let session = env.session();
    let folders = [".", "judging", "judging/repair", "judging/pass-2", "judging/pass-2/repair"];
    let (watched, _) = finish(&env, &["status", "--watch", "--json"], 0);
    for printed in [&out, &watched] {
        let mut told: std::collections::BTreeMap<String, Vec<Value>> = Default::default();
        for line in printed.lines() {
            let mut event: Value = serde_json::from_str(line).unwrap();
            let folder = event.as_object_mut().unwrap().remove("folder").unwrap();
            let path = event.as_object_mut().unwrap().remove("path").unwrap();
            assert!(path.as_str().unwrap().ends_with(&env.session().id()), "{path}");
            told.entry(folder.as_str().unwrap().to_owned()).or_default().push(event);
        }
        for folder in folders {
            assert_eq!(told[folder], session.round(folder).events(), "{folder}");
        }
        assert_eq!(told.len(), folders.len());
    }
}

#[test]
fn judges_recuse_themselves_from_answers_of_their_own_vendor() {
    let panel = [("claude-a", "a1", "approve"), ("opus-b", "a2", "approve"), ("gpt-c", "a3", "approve")];
    let env = TestEnv::with(&voters(&panel).agent("grok-d", &["vote approve"]));
    run_and_judge(&env, &["--judges", "claude-a,gpt-c,grok-d", "--recuse", "vendor"], 0);
    let session = env.session();
    let names = |judge: &Value| -> BTreeSet<String> {
        let manifest = session.json("manifest.json");
        strings(&judge["order"]).iter().map(|id| manifest["models"][id]["model"].as_str().unwrap().to_owned()).collect()
    };
    let by_name = judges(&session.round("judging"));
    assert_eq!(names(&by_name["claude-a"]), ["gpt-c".to_owned()].into());
    assert_eq!(names(&by_name["gpt-c"]), ["claude-a".to_owned(), "opus-b".to_owned()].into());
    assert_eq!(names(&by_name["grok-d"]).len(), 3);
    assert_eq!(session.json("verdict.json")["recuse"], "vendor");
    assert!(session.text("verdict.md").contains("nor one of its own vendor (`--recuse vendor`)"));
    assert_consistent(&session);
}

#[test]
fn recusal_that_leaves_an_answer_without_a_judge_is_refused_before_the_run() {
    let env = TestEnv::with(&voters(&[("claude-a", "a1", "approve"), ("opus-b", "a2", "approve")]));
    let (_, err) = run_and_judge(&env, &["--recuse", "vendor"], 2);
    assert!(err.contains("2 of 2 answers would have no judge") && err.contains("`--recuse vendor`"), "{err}");
    assert!(err.contains("name judges of another vendor with `--judges`"), "{err}");
    assert!(!env.path("ai-docs").exists());
}

#[test]
fn the_rules_of_a_vote_come_from_the_configuration_too() {
    let config = voters(&[("kiwi", "I am kiwi", "approve"), ("plum", "the other one", "approve")])
        .agent("lazy", &["vote first missing", "vote again approve"])
        .agent("fair", &["vote approve"])
        .agent("firm", &["vote approve"])
        .key("passes", 2.into())
        .key("leaks", "flag".into())
        .key("recuse", "vendor".into())
        .key("repair", false.into());
    let env = TestEnv::with(&config);
    run_and_judge(&env, &["--judges", "lazy,fair,firm"], 0);
    let votes = env.session().json("judging/votes.json");
    assert_eq!(
        (&votes["passes"], &votes["leaks"], &votes["recuse"], &votes["repair"]),
        (&json!(2), &json!("flag"), &json!("vendor"), &json!(false))
    );
    let env = TestEnv::with(&config.key("passes", 3.into()));
    let (_, err) = run_and_judge(&env, &[], 2);
    assert!(err.contains("neither 1 nor 2"), "{err}");
    let (_, err) = finish(&env, &["judge", "--passes", "0"], 2);
    assert!(err.contains("neither 1 nor 2"), "{err}");
}
