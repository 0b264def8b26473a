//! Ballots from elsewhere, counted by the same code; nobody is asked.

use serde_json::{Value, json};

use crate::support::{Session, TestEnv, assert_consistent, finish, judges, voters};

/// A finished run of three answers, whose models would note it if they were asked again.
fn answered() -> (TestEnv, Session) {
    let env = TestEnv::with(&voters(&[
        ("kiwi", "the RIGHT one", "approve-word RIGHT"),
        ("plum", "the other one", "approve-word RIGHT"),
        ("pear", "the long and last one", "approve-word RIGHT"),
    ]));
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    (env, session)
}

fn result<'v>(verdict: &'v Value, list: &str, key: &str, id: &str) -> &'v Value {
    verdict[list].as_array().unwrap().iter().find(|entry| entry[key] == *id).unwrap()
}

#[test]
fn votes_of_another_round_are_counted_as_they_were_there() {
    let (env, _) = answered();
    finish(&env, &["judge", "--passes", "2"], 0);
    let session = env.session();
    let there = session.json("judging/verdict.json");
    std::fs::copy(session.path("judging/votes.json"), env.path("theirs.json")).unwrap();
    let (out, _) = finish(&env, &["judge", "--import", "theirs.json"], 0);
    let here = session.json("judging-2/verdict.json");
    for key in ["winner", "noWinner", "ballots", "agreement", "length", "conclusion"] {
        assert_eq!(there[key], here[key], "{key}");
    }
    let scores = |verdict: &Value| -> Vec<Value> {
        let answers = verdict["answers"].as_array().unwrap();
        answers
            .iter()
            .map(|answer| json!([answer["id"], answer["rank"], answer["score"], answer["possible"]]))
            .collect()
    };
    assert_eq!(scores(&there), scores(&here));
    let round = session.round("judging-2");
    assert!(!round.files().iter().any(|file| file.starts_with("prompt-")), "nobody is asked");
    assert!(judges(&round).keys().all(|name| name.ends_with(" (imported)")), "{:?}", judges(&round).keys());
    assert!(out.contains("were made elsewhere and imported; nobody was asked"), "{out}");
    assert!(out.contains("- From: theirs.json (kept as `import-01.txt`"), "{out}");
    assert_eq!(round.text("import-01.txt"), session.text("judging/votes.json"));
    let imported = round.events().into_iter().find(|event| event["event"] == "imported").unwrap();
    assert_eq!(imported["file"], "import-01.txt");
    assert!(here["judges"].as_array().unwrap().iter().all(|judge| judge["lean"].is_null()));
    assert_consistent(&session);
}

#[test]
fn raw_texts_of_judges_are_read_by_a_stated_pattern() {
    let (env, session) = answered();
    let (kiwi, plum) = (session.id_of("kiwi"), session.id_of("plum"));
    env.write(
        "strict.txt",
        format!(
            "I looked at all.\nAnswer {kiwi}: APPROVE (9/10) because it is right\nAnswer {plum}: reject (4)\nDone.\n"
        ),
    );
    env.write(
        "mild.txt",
        "Answer kiwi: Approved (N/A) fine\nAnswer plum: APPROVE (7) fine\nAnswer plum: approve (7) fine\n",
    );
    let pattern = r"^Answer (?<answer>\w+): (?<verdict>\w+) \((?<confidence>[^)]*)\)(?<summary>.*)$";
    let arguments = ["judge", "--import", "strict.txt", "--import", "mild.txt", "--import-pattern", pattern];
    let (out, _) = finish(&env, &arguments, 0);
    let verdict = session.json("verdict.json");
    let of = |id: &str| {
        let answer = result(&verdict, "answers", "id", id);
        (
            answer["approvals"].clone(),
            answer["rejections"].clone(),
            answer["possible"].clone(),
            answer["confidence"].clone(),
        )
    };
    assert_eq!(of(&kiwi), (json!(2), json!(0), json!(2), json!(9.0)));
    assert_eq!(of(&plum), (json!(1), json!(1), json!(2), json!(5.5)));
    assert_eq!(of(&session.id_of("pear")).2, json!(0), "nobody there saw it");
    assert_eq!(verdict["winner"], kiwi);
    assert_eq!(verdict["imported"]["pattern"], pattern);
    let round = session.round("judging");
    assert_eq!(judges(&round).keys().collect::<Vec<_>>(), ["mild (imported)", "strict (imported)"]);
    assert!(out.contains("- Read by the pattern: ^Answer"), "{out}");
    assert_consistent(&session);
}

#[test]
fn judgements_of_two_give_win_rates_with_ties_as_half() {
    let (env, session) = answered();
    let line = |a: &str, b: &str, winner: &str, judge: &str| {
        json!({"question_id": 81, "model_1": a, "model_2": b, "g1_winner": winner, "judge": [judge, "pair-v2"]})
            .to_string()
    };
    let lines = [
        line("kiwi", "plum", "model_1", "gpt-4"),
        line("plum", "kiwi", "model_2", "gpt-4"),
        line("kiwi", "pear", "tie", "gpt-4"),
        line("plum", "pear", "pear", "gpt-4"),
        line("kiwi", "plum", "model_1", "claude-v1"),
        line("kiwi", "pear", "model_1", "claude-v1"),
        line("pear", "plum", "tie", "claude-v1"),
    ];
    env.write("pairs.jsonl", lines.join("\n"));
    let pattern =
        r#""model_1":"(?<a>[^"]+)","model_2":"(?<b>[^"]+)","g1_winner":"(?<winner>[^"]+)","judge":\["(?<judge>[^"]+)""#;
    let (out, _) = finish(&env, &["judge", "--import", "pairs.jsonl", "--import-pattern", pattern], 0);
    let verdict = session.json("verdict.json");
    let of = |name: &str| {
        let pair = result(&verdict, "pairs", "answer", &session.id_of(name));
        (pair["wins"].clone(), pair["losses"].clone(), pair["ties"].clone(), pair["rate"].clone(), pair["rank"].clone())
    };
    assert_eq!(of("kiwi"), (json!(4), json!(0), json!(1), json!(0.9), json!(1)));
    assert_eq!(of("pear"), (json!(1), json!(1), json!(2), json!(0.5), json!(2)));
    assert_eq!(of("plum"), (json!(0), json!(4), json!(1), json!(0.1), json!(3)));
    assert_eq!(verdict["winner"], session.id_of("kiwi"));
    assert!(out.contains("wins 90 % of its 5 comparisons; next is"), "{out}");
    assert!(out.contains("By win rate, a tie counting as half a win."), "{out}");
    let sentence = verdict["conclusion"]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("cannot be concluded") && sentence.contains("N = 1 decided of 2 comparisons"),
        "{sentence}"
    );
    assert_eq!(judges(&session.round("judging")).len(), 2);
    assert_consistent(&session);
}

#[test]
fn what_is_no_answer_here_is_refused_with_its_place_and_nothing_is_made() {
    let (env, session) = answered();
    let before = session.text("events.jsonl");
    let kiwi = session.id_of("kiwi");
    let vote = r"^(?<answer>\S+) (?<verdict>\w+)$";
    let pair = r"^(?<a>\S+) (?<b>\S+) (?<winner>\S+)$";
    let write = |text: &str| drop(env.write("b.txt", text));
    for (text, pattern, said) in [
        ("kiwi APPROVE\nmango REJECT\n", vote, "b.txt:2: `mango` is no answer of this session; they are 01, 02, 03"),
        ("07 APPROVE\n", vote, "b.txt:1: `07` is no answer of this session"),
        ("kiwi APPROVE\n\nkiwi REJECT\n", vote, "b.txt:3: judge `b` votes on answer `kiwi` a second time"),
        ("kiwi MAYBE\n", vote, "b.txt:1: `MAYBE` is none of APPROVE, REJECT, ABSTAIN"),
        ("nothing here\n", r"^x(?<answer>\d)(?<verdict>\d)", "b.txt: the pattern"),
        ("kiwi plum left\n", pair, "b.txt:1: `left` is no winner"),
        ("kiwi kiwi A\n", pair, "answer `kiwi` is compared with itself"),
    ] {
        write(text);
        let (out, err) = finish(&env, &["judge", "--import", "b.txt", "--import-pattern", pattern], 2);
        assert!(out.is_empty() && err.contains(said), "{text}: {err}");
    }
    for (json, said) in [
        ("{\"version\": 9, \"judges\": []}".to_owned(), "has version 9"),
        ("{\"judges\": []}".to_owned(), "is not in the schema of `votes.json`"),
        ("{\"version\": 1,\n \"judges\": [}".to_owned(), "b.txt:2:"),
        (json!({"version": 1, "judges": [{"votes": [{"answer": "09", "verdict": "APPROVE"}]}]}).to_string(), "judges[0].votes[0]: `09`"),
        (
            json!({"version": 1, "candidates": [{"id": "01", "sha256": "0".repeat(64)}],
                "judges": [{"votes": [{"answer": "01", "verdict": "APPROVE"}]}]})
            .to_string(),
            "answer 01 was another text there",
        ),
        (
            json!({"version": 1, "judges": [{"votes": [{"answer": kiwi, "verdict": "APPROVE"}, {"answer": kiwi, "verdict": "REJECT"}]}]})
                .to_string(),
            "has two votes on answer",
        ),
        (json!({"version": 1, "judges": [{"votes": [{"answer": kiwi, "verdict": "MAYBE"}]}]}).to_string(), "judges[0]: unknown variant"),
        (json!({"version": 1, "judges": []}).to_string(), "hold no vote on an answer of this session"),
    ] {
        write(&json);
        let (_, err) = finish(&env, &["judge", "--import", "b.txt"], 2);
        assert!(err.contains(said), "{json}: {err}");
    }
    for (pattern, said) in [
        ("(", "is not a regular expression"),
        ("(?<answer>x)", "must name the groups"),
        ("(?<answer>x)(?<verdict>y)(?<vote>z)", "it names"),
    ] {
        let (_, err) = finish(&env, &["judge", "--import", "b.txt", "--import-pattern", pattern], 2);
        assert!(err.contains(said), "{pattern}: {err}");
    }
    let (_, err) = finish(&env, &["judge", "--import", "none.json"], 2);
    assert!(err.contains("cannot read `none.json`: there is no such file"), "{err}");
    let (_, err) = finish(&env, &["judge", "--import", "b.txt", "--judges", "kiwi"], 2);
    assert!(err.contains("cannot be used with"), "{err}");
    assert_eq!(session.text("events.jsonl"), before, "the session is as it was");
    assert!(!session.has("judging"));
}

#[test]
fn votes_on_answers_of_the_same_text_are_each_counted_for_their_own() {
    let env = TestEnv::with(&voters(&[
        ("kiwi", "the same text", "approve-word same"),
        ("plum", "the same text", "approve-word same"),
        ("pear", "another one", "approve-word same"),
    ]));
    finish(&env, &["run-and-judge", "Which one is it?"], 0);
    let session = env.session();
    let mut theirs = session.json("judging/votes.json");
    let there = session.json("judging/verdict.json");
    env.write("theirs.json", theirs.to_string());
    finish(&env, &["judge", "--import", "theirs.json"], 0);
    let ranks = |verdict: &Value| -> Vec<Value> {
        let answers = verdict["answers"].as_array().unwrap().iter();
        answers.map(|answer| json!([answer["id"], answer["approvals"], answer["rejections"]])).collect()
    };
    assert_eq!(ranks(&there), ranks(&session.json("judging-2/verdict.json")));

    // Under other ids they are still two answers.
    let (kiwi, plum) = (session.id_of("kiwi"), session.id_of("plum"));
    let renamed =
        theirs.to_string().replace(&format!("\"{kiwi}\""), "\"71\"").replace(&format!("\"{plum}\""), "\"72\"");
    theirs = serde_json::from_str(&renamed).unwrap();
    env.write("renamed.json", theirs.to_string());
    finish(&env, &["judge", "--import", "renamed.json"], 0);
    let sum = |verdict: &Value| {
        let rows = ranks(verdict);
        let of = |id: &String| rows.iter().find(|row| row[0] == **id).unwrap()[1].as_u64().unwrap();
        of(&kiwi) + of(&plum)
    };
    assert_eq!(sum(&there), sum(&session.json("judging-3/verdict.json")));
    finish(&env, &["verify"], 0);
}

#[test]
fn hostile_words_in_an_imported_file_reach_no_terminal() {
    let (env, session) = answered();
    let text = "\u{1b}[2J\u{202e}";
    let votes = json!({"version": 1, "judges": [
        {"name": format!("evil{text}| <script>"), "votes": [
            {"answer": "kiwi", "verdict": "APPROVE", "summary": format!("{text}\n# Verdict"), "keyIssues": [text]},
            {"answer": "plum", "verdict": "REJECT", "confidence": 200, "summary": text}]},
        {"name": "fair", "votes": [{"answer": "kiwi", "verdict": "REJECT"}, {"answer": "plum", "verdict": "REJECT"}]}]});
    env.write("evil.json", votes.to_string());
    let (out, err) = finish(&env, &["judge", "--import", "evil.json"], 0);
    assert!(!out.contains(['\u{1b}', '\u{202e}']) && !err.contains(['\u{1b}', '\u{202e}']), "{out}{err}");
    assert!(!out.replace("\\<", "").contains("<script"), "{out}");
    assert_eq!(out.lines().filter(|line| line.starts_with("# ")).count(), 1, "{out}");
    assert_consistent(&session);
    env.write(
        "worse.json",
        format!(
            "{{\"version\": 1, \"judges\": [{{\"votes\": [{{\"answer\": \"{text}\", \"verdict\": \"APPROVE\"}}]}}]}}"
        )
        .replace('\u{1b}', "\\u001b"),
    );
    let (_, err) = finish(&env, &["judge", "--import", "worse.json"], 2);
    assert!(!err.contains(['\u{1b}', '\u{202e}']), "{err:?}");
}

#[test]
fn an_import_into_a_run_of_one_answer_decides_nothing() {
    let env = TestEnv::with(&voters(&[("kiwi", "the only one", "approve")]));
    finish(&env, &["run", "Which one is it?"], 0);
    env.write("b.txt", "kiwi APPROVE\n");
    let arguments = ["judge", "--import", "b.txt", "--import-pattern", r"^(?<answer>\S+) (?<verdict>\w+)$"];
    let (_, err) = finish(&env, &arguments, 3);
    assert!(err.contains("a vote needs two"), "{err}");
    assert!(!env.session().has("judging"));
}

#[test]
fn nothing_that_is_refused_tells_who_wrote_what_or_who_failed() {
    let agents = [("kiwi", "the RIGHT one"), ("plum", "the other one"), ("pear", "the last one")];
    let config = voters(&agents.map(|(name, answer)| (name, answer, "approve")));
    let env = TestEnv::with(&config.agent("figs", &["exit 1"]));
    finish(&env, &["run", "-m", "kiwi,plum,pear,figs", "Which one is it?"], 0);
    let session = env.session();
    let before = session.text("events.jsonl");
    let vote = r"^(?<answer>\S+) (?<verdict>\w+)$";
    let pair = r"^(?<a>\S+) (?<b>\S+) (?<winner>\S+)$";
    let complete: Vec<String> = ["kiwi", "plum", "pear"].iter().map(|name| session.id_of(name)).collect();
    let names = ["kiwi", "plum", "pear", "figs"];
    // What is said of each model, its name and all numbers aside, is the same.
    let said = |text: &dyn Fn(&str) -> String, pattern: Option<&str>| {
        let mut said = names.map(|name| {
            env.write("b.txt", text(name));
            let mut arguments = vec!["judge", "--import", "b.txt"];
            arguments.extend(pattern.iter().flat_map(|pattern| ["--import-pattern", *pattern]));
            let (out, err) = finish(&env, &arguments, 2);
            assert!(out.is_empty(), "{out}");
            err.replace(name, "NAME")
        });
        said.sort();
        assert_eq!(said[0], said[3], "{said:?}");
        said[0].clone()
    };
    for id in &complete {
        let one = said(&|name| format!("{name} APPROVE\n{id} REJECT\n"), Some(vote));
        assert!(one.contains("names answers by their models and by numbers"), "{one}");
        said(&|name| format!("{id} {name} tie\n"), Some(pair));
        let votes = |first: &str, second: &str| {
            let votes = json!([{"answer": first, "verdict": "APPROVE"}, {"answer": second, "verdict": "APPROVE"}]);
            json!({"version": 1, "judges": [{"votes": votes}]}).to_string()
        };
        said(&|name| votes(name, id), None);
        said(&|name| votes(id, name), None);
        let ordered = json!({"order": [id], "pairs": []});
        said(
            &|name| {
                let mut judge = ordered.clone();
                judge["votes"] = json!([{"answer": name, "verdict": "REJECT"}]);
                json!({"version": 1, "judges": [judge]}).to_string()
            },
            None,
        );
    }
    let twice = said(&|name| format!("{name} APPROVE\n{name} REJECT\n"), Some(vote));
    assert!(twice.contains("votes on answer `NAME` a second time and otherwise"), "{twice}");
    said(&|name| format!("{name} {name} A\n"), Some(pair));
    said(&|name| format!("{name} MAYBE\n"), Some(vote));
    said(&|name| format!("{name} APPROVE\nmango APPROVE\n"), Some(vote));
    assert_eq!(session.text("events.jsonl"), before, "the session is as it was");

    // What is counted leaves out whoever has no answer, and is on record.
    env.write("b.txt", "figs APPROVE\n");
    finish(&env, &["judge", "--import", "b.txt", "--import-pattern", vote], 3);
    assert_eq!(session.json("judging/votes.json")["judges"][0]["votes"], json!([]));
    env.write("b.txt", "figs APPROVE\nkiwi APPROVE\nplum REJECT\n");
    finish(&env, &["judge", "--import", "b.txt", "--import-pattern", vote], 0);
    let verdict = session.json("judging-2/verdict.json");
    assert_eq!(result(&verdict, "answers", "id", &session.id_of("kiwi"))["approvals"], 1);
    finish(&env, &["verify"], 0);
}
