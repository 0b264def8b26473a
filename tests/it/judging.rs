//! Rounds of votes by the real program: who sees what under which name, and what a second round, a moved folder or a
//! changed file does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{
    APPROVE, Session, TeamToml, TestEnv, assert_consistent, finish, judges, run_and_judge, voters, wait_until,
};

/// Three agents whose answers tell them apart for the test, and that approve everything.
fn three() -> TestEnv {
    TestEnv::with(&voters(&[
        ("kiwi", "first text", "approve"),
        ("plum", "second text", "approve"),
        ("pear", "third text", "approve"),
    ]))
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The names of the models whose answers a judge saw, in the order of its prompt.
fn shown(session: &Session, judge: &Value) -> Vec<String> {
    let manifest = session.json("manifest.json");
    strings(&judge["order"]).iter().map(|id| manifest["models"][id]["model"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_panel_judges_itself_and_nobody_sees_its_own_answer() {
    let env = three();
    run_and_judge(&env, &[], 0);
    let session = env.session();
    for (name, judge) in judges(&session.round("judging")) {
        let shown: BTreeSet<String> = shown(&session, &judge).into_iter().collect();
        let others: BTreeSet<String> =
            ["kiwi", "plum", "pear"].map(str::to_owned).into_iter().filter(|other| *other != name).collect();
        assert_eq!(shown, others, "{name}");
    }
    assert_consistent(&session);
}

#[test]
fn the_rule_about_own_answers_is_the_users() {
    for (rule, own_model, own_seat) in [("model", 0, 0), ("slot", 1, 0), ("include", 2, 1)] {
        let env = three();
        run_and_judge(&env, &["-m", "kiwi,kiwi,plum", "--self-vote", rule], 0);
        let session = env.session();
        let round = session.round("judging");
        assert_eq!(session.json("verdict.json")["selfVote"], rule);
        let (panel, seats) = (session.json("manifest.json"), round.json("manifest.json"));
        let seat_of = |judge: &str| {
            let order = strings(&seats["shuffleOrder"]);
            strings(&panel["shuffleOrder"])[order.iter().position(|id| id == judge).unwrap()].clone()
        };
        for judge in round.json("votes.json")["judges"].as_array().unwrap() {
            let id = judge["id"].as_str().unwrap();
            if seats["models"][id]["model"] == "kiwi" {
                let own = shown(&session, judge).iter().filter(|name| *name == "kiwi").count();
                assert_eq!(own, own_model, "{rule}");
            }
            let own = strings(&judge["order"]).iter().filter(|answer| **answer == seat_of(id)).count();
            assert_eq!(own, own_seat, "{rule}");
        }
        assert_consistent(&session);
    }
}

#[test]
fn each_judge_has_names_of_its_own_and_a_code_of_its_own() {
    let env = three();
    run_and_judge(&env, &["--self-vote", "include"], 0);
    let round = env.session().round("judging");
    let mut names = BTreeSet::new();
    let mut codes = BTreeSet::new();
    for judge in judges(&round).values() {
        names.extend(judge["aliases"].as_object().unwrap().values().map(|alias| alias.as_str().unwrap().to_owned()));
        codes.insert(judge["nonce"].as_str().unwrap().to_owned());
    }
    assert_eq!((names.len(), codes.len()), (9, 3), "{names:?} {codes:?}");
}

#[test]
fn every_answer_stands_in_every_place_equally_often() {
    let panel = [
        ("kiwi", "a1", "approve"),
        ("plum", "a2", "approve"),
        ("pear", "a3", "approve"),
        ("lime", "a4", "approve"),
        ("fig", "a5", "approve"),
    ];
    for (rule, places) in [("model", 4), ("include", 5)] {
        let env = TestEnv::with(&voters(&panel));
        run_and_judge(&env, &["--self-vote", rule], 0);
        let mut counts: BTreeMap<(String, usize), usize> = BTreeMap::new();
        for judge in judges(&env.session().round("judging")).values() {
            for (place, answer) in strings(&judge["order"]).into_iter().enumerate() {
                *counts.entry((answer, place)).or_default() += 1;
            }
        }
        assert_eq!(counts.len(), 5 * places, "{rule}");
        assert!(counts.values().all(|count| *count == 1), "{rule}: {counts:?}");
    }
}

#[test]
fn a_prompt_holds_the_task_and_the_answers_in_fences_and_names_nobody() {
    let env = three();
    run_and_judge(&env, &[], 0);
    let session = env.session();
    let round = session.round("judging");
    for judge in round.json("votes.json")["judges"].as_array().unwrap() {
        let prompt = round.text(&format!("prompt-{}.md", judge["id"].as_str().unwrap()));
        let code = judge["nonce"].as_str().unwrap();
        assert!(prompt.contains(&format!("BEGIN {code}\nWhich one is it?\nEND {code}")), "{prompt}");
        let mut at = 0;
        for answer in strings(&judge["order"]) {
            let alias = judge["aliases"][&answer].as_str().unwrap();
            let text = session.text(&format!("response-{answer}.md"));
            let part = format!("### Response {alias}\nBEGIN {code}\n{text}END {code}\n");
            let found = prompt[at..].find(&part).unwrap_or_else(|| panic!("not in its place: {part}\n{prompt}"));
            at += found + part.len();
        }
        assert_eq!(prompt.matches("### Response ").count(), judge["order"].as_array().unwrap().len());
        for word in ["kiwi", "plum", "pear", "fake-agent", "fake", "response-0", "slot "] {
            assert!(!prompt.contains(word), "`{word}` in {prompt}");
        }
    }
}

#[test]
fn only_complete_answers_are_judged_and_the_seats_of_the_others_are_told() {
    let config = voters(&[("kiwi", "first text", "approve"), ("plum", "second text", "approve")])
        .agent("dead", &["answer unfinished", "answer business", "exit 3"])
        .agent("mute", &["answer  ", "vote approve"])
        .panel(&["kiwi", "dead", "plum", "mute"]);
    let env = TestEnv::with(&config);
    run_and_judge(&env, &[], 0);
    let session = env.session();
    let (dead, mute) = (session.id_of("dead"), session.id_of("mute"));
    assert_eq!(
        (session.slot(&dead)["state"].clone(), session.slot(&mute)["state"].clone()),
        ("FAILED".into(), "EMPTY".into())
    );
    for (name, judge) in judges(&session.round("judging")) {
        let shown = shown(&session, &judge);
        assert!(shown.iter().all(|name| ["kiwi", "plum"].contains(&name.as_str())), "{name}: {shown:?}");
    }
    let verdict = session.json("verdict.json");
    assert_eq!(verdict["answers"].as_array().unwrap().len(), 2);
    assert_eq!(verdict["missingSlots"].as_array().unwrap().len(), 2);
    assert_eq!(verdict["panel"]["slots"], 4);
    assert_consistent(&session);
}

#[test]
fn the_partial_text_of_a_failed_judge_is_not_read_and_an_odd_panel_stays_odd() {
    let config = voters(&[("kiwi", "first text", "approve"), ("plum", "second text", "approve")])
        .agent("crash", &[&format!("vote each {APPROVE}"), "exit 1"])
        .agent("fair", &["vote approve"])
        .agent("harsh", &["vote reject"]);
    let env = TestEnv::with(&config);
    run_and_judge(&env, &["--judges", "crash,fair,harsh"], 0);
    let session = env.session();
    let judge = &judges(&session.round("judging"))["crash"];
    assert_eq!(judge["state"], "FAILED");
    assert_eq!(judge["votes"].as_array().unwrap().len(), 0);
    assert_eq!(judge["missing"].as_array().unwrap().len(), 2);
    let verdict = session.json("verdict.json");
    assert_eq!(
        (&verdict["winner"], &verdict["noWinner"]),
        (&Value::Null, &"notApproved".into()),
        "one for, one against"
    );
    assert_eq!(verdict["panel"]["judges"], 3);
    assert_consistent(&session);
}

#[test]
fn judging_again_opens_a_new_round_and_keeps_the_first_byte_for_byte() {
    let config = voters(&[("kiwi", "first text", "approve"), ("plum", "second text", "approve")])
        .agent("fair", &["vote approve-word first"])
        .agent("firm", &["vote approve-word first"]);
    let env = TestEnv::with(&config);
    run_and_judge(&env, &[], 0);
    let session = env.session();
    let first = session.round("judging");
    let before: Vec<(String, Vec<u8>)> =
        first.files().into_iter().map(|file| (file.clone(), std::fs::read(first.path(&file)).unwrap())).collect();
    assert_eq!(session.json("session-meta.json")["artifacts"]["rounds"], serde_json::json!(["judging"]));

    let (out, _) = finish(&env, &["judge", "latest", "--judges", "fair,firm"], 0);
    assert_eq!(out, session.text("verdict.md"));
    assert!(out.starts_with("# Verdict, round 2\n"), "{out}");
    assert_eq!(session.json("verdict.json")["round"], 2);
    assert_eq!(session.json("verdict.json")["winner"], session.id_of("kiwi"));
    for (file, bytes) in before {
        assert!(std::fs::read(first.path(&file)).unwrap() == bytes, "{file} was changed");
    }
    let names: Vec<String> = session.events().iter().map(|e| e["event"].as_str().unwrap().to_owned()).collect();
    let tail: Vec<&str> = names.iter().map(String::as_str).skip_while(|name| *name != "reopened").collect();
    assert_eq!(tail, ["reopened", "round_opened", "round_closed", "phase_started", "verdict", "closed"]);
    let meta = session.json("session-meta.json");
    assert_eq!(meta["status"], "completed");
    assert_eq!(meta["artifacts"]["rounds"], serde_json::json!(["judging", "judging-2"]));
    assert_eq!(meta["models_used"], serde_json::json!(["kiwi", "plum"]));
    assert_consistent(&session);
}

#[test]
fn a_round_that_is_stopped_is_closed_and_the_verdict_before_it_stays() {
    let config = voters(&[("kiwi", "first text", "approve"), ("plum", "second text", "approve")])
        .agent("fair", &["vote approve"])
        .agent("slow", &["hang"]);
    let env = TestEnv::with(&config);
    run_and_judge(&env, &[], 0);
    let session = env.session();
    let before = session.text("verdict.md");
    let mut judging = env.start(&["judge", "--judges", "fair,slow"]);
    let round = session.round("judging-2");
    wait_until("the round", || round.has("status.json").then_some(()));
    let slow = round.id_of("slow");
    wait_until("the slow judge", || (round.slot(&slow)["state"] == "RUNNING").then_some(()));
    let meta = session.json("session-meta.json");
    assert_eq!((&meta["status"], &meta["events"]), (&"in_progress".into(), &Value::Null), "an open record has no seal");
    judging.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(judging.wait().code(), Some(130), "{}", judging.stderr());
    assert!(!round.has("verdict.json"), "a part of the judges decides nothing");
    assert_eq!(session.text("verdict.md"), before);
    assert_eq!(round.json("status.json")["state"], "cancelled");
    assert_consistent(&session);
    // The next round has a number of its own.
    finish(&env, &["judge"], 0);
    assert_eq!(session.json("verdict.json")["round"], 3);
    assert_consistent(&session);
}

#[test]
fn a_round_without_a_decision_is_the_newest_verdict_all_the_same() {
    let env = TestEnv::with(
        &voters(&[("kiwi", "first text", "approve"), ("plum", "second text", "approve")]).agent("dead", &["exit 1"]),
    );
    run_and_judge(&env, &[], 0);
    finish(&env, &["judge", "--judges", "dead"], 3);
    let session = env.session();
    assert!(session.text("verdict.md").starts_with("# No decision (partial panel), round 2\n"));
    assert_eq!(session.json("verdict.json")["noWinner"], "noVotes");
    assert_consistent(&session);
}

#[test]
fn a_session_is_judged_where_it_was_moved_to() {
    let env = three();
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    let moved = env.path("elsewhere/copied");
    std::fs::create_dir_all(env.path("elsewhere")).unwrap();
    // A copy without locks and permissions, as an archive makes it.
    let files = session.files();
    for file in files.iter().filter(|file| *file != ".lock") {
        let to = moved.join(file);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, std::fs::read(session.path(file)).unwrap()).unwrap();
    }
    std::fs::remove_dir_all(session.dir()).unwrap();
    let copy = Session::at(&moved);
    assert_consistent(&copy);
    finish(&env, &["judge", moved.to_str().unwrap()], 0);
    assert_eq!(copy.json("verdict.json")["answers"].as_array().unwrap().len(), 3);
    assert!(copy.has("judging/votes.json"));
    assert_consistent(&copy);
    finish(&env, &["judge", "./elsewhere/copied", "--judges", "kiwi,plum,pear"], 0);
    assert_consistent(&copy);
}

#[test]
fn a_running_session_is_not_judged_and_not_touched() {
    let config = voters(&[("kiwi", "first text", "approve"), ("plum", "second text", "approve")])
        .agent("slow", &["wait-for go", "answer third text"])
        .panel(&["kiwi", "plum", "slow"]);
    let env = TestEnv::with(&config);
    let mut running = env.start(&["run", "Which one is it?"]);
    let session = env.session_with("status.json");
    let (_, err) = finish(&env, &["judge", "latest", "--judges", "kiwi,plum"], 2);
    assert!(err.contains("is owned by") && err.contains(&format!("process {}", running.pid())), "{err}");
    assert!(!session.has("judging"));
    let slow = session.id_of("slow");
    wait_until("the slow slot", || (session.slot(&slow)["state"] == "RUNNING").then_some(()));
    std::fs::write(session.path(&format!("work/{slow}/go")), "").unwrap();
    assert_eq!(running.wait().code(), Some(0), "{}", running.stderr());
    assert_consistent(&session);
    finish(&env, &["judge", "--judges", "kiwi,plum"], 0);
}

#[test]
fn one_answer_alone_is_no_vote_and_exits_with_3() {
    let env = three();
    let panel = session_of_one(&env);
    let (_, err) = finish(&env, &["judge"], 3);
    assert!(err.contains("a vote needs two"), "{err}");
    assert!(!panel.has("judging"), "nobody was asked");
}

/// A run of one slot.
fn session_of_one(env: &TestEnv) -> Session {
    let config: toml::Value = toml::from_str(&std::fs::read_to_string(env.path("team.toml")).unwrap()).unwrap();
    let first = config["panel"][0].as_str().unwrap().to_owned();
    finish(env, &["run", "-m", &first, "Which one is it?"], 0);
    env.session()
}

#[test]
fn a_planted_answer_is_ignored() {
    let env = three();
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    std::fs::write(session.path("response-99.md"), "planted text\n").unwrap();
    finish(&env, &["judge"], 0);
    assert_eq!(session.json("judging/votes.json")["candidates"].as_array().unwrap().len(), 3);
    for file in session.round("judging").files().iter().filter(|file| file.starts_with("prompt-")) {
        assert!(!session.text(&format!("judging/{file}")).contains("planted"), "{file}");
    }
}

#[test]
fn a_changed_answer_is_refused_with_6_and_no_judge_is_asked() {
    let env = three();
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    let answer = session.text("response-02.md");
    std::fs::write(session.path("response-02.md"), "a better answer\n").unwrap();
    let (out, err) = finish(&env, &["judge"], 6);
    assert_eq!(out, "");
    assert!(err.contains("response-02.md` is not the answer that was recorded"), "{err}");
    let (shown, _) = finish(&env, &["show", "latest", "02"], 6);
    assert_eq!(shown, "", "a changed answer is not shown as if it were the slot's");
    assert!(!session.has("judging") && !session.has("verdict.json"));
    std::fs::write(session.path("response-02.md"), answer).unwrap();
    assert_consistent(&session);
    finish(&env, &["judge"], 0);
}

#[test]
fn a_reader_of_the_verdict_learns_that_answers_were_cut_and_names_revealed_before() {
    let config = TeamToml::new()
        .agent("long", &["bytes 200000", "vote approve"])
        .agent("short", &["answer short text", "vote approve"])
        .agent("third", &["answer another text", "vote approve"])
        .panel(&["long", "short", "third"]);
    let env = TestEnv::with(&config);
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    let id = session.id_of("long");
    finish(&env, &["show", "latest", "--reveal"], 0);
    let (verdict, _) = finish(&env, &["judge"], 0);
    assert!(verdict.contains(&format!("answer {id} was cut for the judges: ")), "{verdict}");
    assert!(verdict.contains("names were revealed to a person before this verdict"), "{verdict}");
    // Once a verdict has told the names, looking again is nothing to warn of; the first look still is.
    finish(&env, &["show", "latest", "--reveal"], 0);
}

#[test]
fn a_changed_record_is_refused_with_6_and_its_line_is_named() {
    let env = three();
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    let text = session.text("events.jsonl").replacen("\"phase\":\"run\"", "\"phase\":\"judge\"", 1);
    std::fs::write(session.path("events.jsonl"), text).unwrap();
    let (_, err) = finish(&env, &["judge"], 6);
    assert!(err.contains("line 3") && err.contains("prev"), "{err}");
    assert!(!session.has("judging"));
}

#[test]
fn a_panel_that_leaves_an_answer_without_a_judge_is_refused_before_anything_is_made() {
    let env = three();
    for options in [&["-m", "kiwi,kiwi"][..], &["--judges", "kiwi"]] {
        let (out, err) = run_and_judge(&env, options, 2);
        assert_eq!(out, "");
        assert!(err.contains("would have no judge"), "{err}");
        assert!(err.contains("--self-vote slot") && err.contains("--judges"), "{err}");
        assert!(!env.path("ai-docs").exists());
    }
}

#[test]
fn a_judge_of_one_answers_model_is_refused_without_telling_which_answer_is_its_own() {
    let env = three();
    finish(&env, &["run", "Which one is it?"], 0);
    let (_, err) = finish(&env, &["judge", "--judges", "plum"], 2);
    assert!(err.contains("1 of 3 answers would have no judge,"), "{err}");
    assert!(!env.session().has("judging"));
    // With a second judge each answer has one; which of them has one only would tell the same.
    let (_, err) = finish(&env, &["judge", "--judges", "plum,pear"], 0);
    assert!(err.contains("note: 2 of 3 answers have one judge only"), "{err}");
}

#[test]
fn what_is_said_of_judges_before_the_verdict_is_the_same_whichever_model_failed() {
    let said = ["kiwi", "plum", "pear"].map(|failed| {
        let config = ["kiwi", "plum", "pear"].iter().fold(TeamToml::new(), |config, name| match *name == failed {
            true => config.agent(name, &["answer nothing", "answer  ", "vote approve", "exit 1"]),
            false => config.agent(name, &[&format!("answer the text of {name}"), "vote approve"]),
        });
        let env = TestEnv::with(&config.agent("fair", &["vote approve"]).panel(&["kiwi", "plum", "pear"]));
        finish(&env, &["run", "Which one is it?"], 0);
        let (_, refused) = finish(&env, &["judge", "--judges", "kiwi"], 2);
        assert!(refused.contains("1 of 3 answers would have no judge"), "{refused}");
        let (_, estimated) = finish(&env, &["judge", "--judges", "kiwi", "--estimate"], 2);
        let (table, noted) = finish(&env, &["judge", "--judges", "fair,kiwi", "--estimate"], 0);
        assert!(noted.contains("note: 1 of 3 slots has one judge only"), "{noted}");
        assert!(!env.session().has("judging"));
        // Sizes of answers are no secret, but differ by the name in them.
        let table: Vec<String> = table.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
        (refused, estimated, noted, table)
    });
    assert!(said.iter().all(|one| *one == said[0]), "{said:#?}");
}

#[test]
fn one_judge_per_answer_is_said_at_the_start_and_in_the_verdict() {
    let env = three();
    let (out, err) = run_and_judge(&env, &["-m", "kiwi,plum"], 0);
    let said = "each answer has one judge only: a single vote cannot make a winner";
    assert!(err.contains(said), "{err}");
    assert!(out.contains(&format!("- Note: {said}")), "{out}");
    assert!(out.contains("**Nobody wins**"), "{out}");
}

#[test]
fn a_judge_that_could_not_be_asked_has_an_end_on_record() {
    let long = "word ".repeat(2000);
    let config = voters(&[("kiwi", &long, "approve"), ("plum", "second text", "approve")])
        .agent_with("tiny", &["vote approve"], &[("context", 700.into())])
        .agent("fair", &["vote approve"]);
    let env = TestEnv::with(&config);
    let (out, _) = run_and_judge(&env, &["--judges", "tiny,fair"], 3);
    let round = env.session().round("judging");
    let tiny = round.id_of("tiny");
    let entry = round.slot(&tiny);
    assert_eq!((&entry["state"], &entry["error"]["reason"]), (&"FAILED".into(), &"context_too_long".into()));
    assert!(!round.has(&format!("prompt-{tiny}.md")));
    assert!(round.events().iter().any(|e| e["event"] == "slot_ended" && e["slot"] == *tiny));
    assert!(out.contains(&format!("Judge {tiny} (tiny) is FAILED, `context_too_long`")), "{out}");
    assert_consistent(&env.session());
}

#[test]
fn a_judge_with_nothing_that_it_may_see_is_cancelled_and_the_others_go_on() {
    let config = voters(&[("kiwi", "first text", "approve")])
        .agent("plum", &["answer lost", "vote approve"])
        .panel(&["kiwi", "kiwi", "plum"]);
    let env = TestEnv::with(&config);
    finish(&env, &["run", "Which one is it?", "--require-pattern", "first"], 0);
    let (out, _) = finish(&env, &["judge"], 0);
    let round = env.session().round("judging");
    let states: BTreeMap<String, Value> =
        round.slots().into_iter().map(|id| (id.clone(), round.slot(&id)["state"].clone())).collect();
    let plum = round.id_of("plum");
    for (id, state) in states {
        assert_eq!(state, if id == plum { "COMPLETED" } else { "CANCELLED" });
    }
    assert!(out.contains("name judges of another model with `--judges`"), "{out}");
    assert_consistent(&env.session());
}

#[test]
fn every_line_of_json_output_is_an_event_and_together_they_are_the_whole_record() {
    let env = three();
    let (out, err) = run_and_judge(&env, &["--json"], 0);
    let mut folders: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in out.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let folder = event.as_object_mut().unwrap().remove("folder").unwrap();
        let path = event.as_object_mut().unwrap().remove("path").unwrap();
        assert!(path.as_str().unwrap().ends_with(&env.session().id()), "{path}");
        folders.entry(folder.as_str().unwrap().to_owned()).or_default().push(event);
    }
    let session = env.session();
    assert_eq!(folders.keys().collect::<Vec<_>>(), [".", "judging"]);
    assert_eq!(folders["."], session.events());
    assert_eq!(folders["judging"], session.round("judging").events());
    assert!(err.contains("session: "), "{err}");

    let (out, _) = finish(&env, &["judge", "--json"], 0);
    let second: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(second[0]["event"], "reopened");
    assert_eq!(second.iter().filter(|e| e["folder"] == "judging-2").count(), session.round("judging-2").events().len());

    let (out, _) = finish(&env, &["run", "--json", "--name", "zoo", "Which one is it?"], 0);
    assert!(out.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["folder"] == "."), "{out}");
    let zoo = env.sessions().into_iter().find(|session| session.id().starts_with("team-zoo-")).unwrap();
    assert_eq!(out.lines().count(), zoo.events().len(), "{out}");
}
