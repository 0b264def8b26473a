//! `team stats`: counts over folders, of sessions that have a verdict and of no others.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Session, TeamToml, TestEnv, finish, run_and_judge};

/// `kiwi` is right, `plum` is not, `dead` fails; all vote for what is right.
fn panel() -> TeamToml {
    TeamToml::new()
        .agent("kiwi", &["answer It is RIGHT.", "vote approve-word RIGHT"])
        .agent("plum", &["answer It is not.", "vote approve-word RIGHT"])
        .agent("sloe", &["answer Perhaps.", "vote reject"])
        .agent("dead", &["stderr no", "exit 3"])
        .panel(&["kiwi", "plum", "sloe", "dead"])
}

#[track_caller]
fn stats(env: &TestEnv, arguments: &[&str]) -> Value {
    let (out, err) = finish(env, &[&["stats", "--json"], arguments].concat(), 0);
    assert_eq!(err, "");
    serde_json::from_str(&out).unwrap()
}

#[track_caller]
fn model<'a>(stats: &'a Value, name: &str) -> &'a Value {
    let models = stats["groups"][0]["models"].as_array().unwrap();
    models.iter().find(|model| model["names"][0] == name).unwrap_or_else(|| panic!("no {name} in {stats:#}"))
}

fn share(model: &Value, field: &str) -> (u64, u64) {
    (model[field]["count"].as_u64().unwrap(), model[field]["of"].as_u64().unwrap())
}

/// Copies a session into another folder.
fn copy(session: &Session, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let copied = std::process::Command::new("cp").arg("-a").arg(session.dir()).arg(to).status().unwrap();
    assert!(copied.success());
}

#[test]
fn each_model_is_counted_over_the_sessions_with_its_intervals() {
    let env = TestEnv::with(&panel());
    run_and_judge(&env, &[], 0);
    run_and_judge(&env, &[], 0);
    let found = stats(&env, &[]);
    assert_eq!((&found["sessions"], &found["skipped"]), (&json!(2), &json!({})));
    let (kiwi, plum, sloe, dead) =
        (model(&found, "kiwi"), model(&found, "plum"), model(&found, "sloe"), model(&found, "dead"));
    assert_eq!(kiwi["model"], "command/kiwi");
    assert_eq!((share(kiwi, "answered"), share(kiwi, "failed"), share(kiwi, "won")), ((2, 2), (0, 2), (0, 2)));
    assert_eq!((share(dead, "answered"), share(dead, "failed"), share(dead, "won")), ((0, 2), (2, 2), (0, 0)));
    assert_eq!(dead["won"], json!({"count": 0, "of": 0, "share": null, "interval": null}));
    // Of the two others that judge kiwi's answer, plum approves and sloe rejects.
    assert_eq!((share(kiwi, "approved"), share(plum, "approved")), ((2, 4), (0, 4)));
    let interval = team::verdict::wilson_interval(2, 4).unwrap();
    assert_eq!(kiwi["approved"]["share"], 0.5);
    assert_eq!(kiwi["approved"]["interval"], json!({"low": interval.low, "high": interval.high}));
    // Sloe and plum differ on kiwi's answer, kiwi and plum agree on sloe's, kiwi and sloe on plum's.
    assert_eq!((share(kiwi, "agreed"), share(plum, "agreed"), share(sloe, "agreed")), ((4, 4), (2, 4), (2, 4)));
    assert_eq!((&kiwi["seconds"]["of"], &dead["seconds"]["of"]), (&json!(2), &json!(0)));
    assert_eq!(kiwi["outputTokens"], json!({"of": 0, "total": null}), "unknown is not zero");

    let (table, _) = finish(&env, &["stats"], 0);
    assert!(table.contains("2 sessions count") && table.contains("2/4 50 % (15-85)"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let (csv, _) = finish(&env, &["stats", "--csv"], 0);
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 5, "{csv}");
    assert!(lines.iter().all(|line| line.split(',').count() == lines[0].split(',').count()), "{csv}");
    let (_, err) = finish(&env, &["stats", "--csv", "--json"], 2);
    assert!(err.contains("exclude each other"), "{err}");
}

#[test]
fn a_round_without_a_valid_vote_is_no_loss_for_anybody() {
    let silent = ["kiwi", "plum"].iter().fold(TeamToml::new(), |config, name| {
        config.agent(name, &[&format!("answer {name} says it."), "vote abstain"])
    });
    let env = TestEnv::with(&silent.panel(&["kiwi", "plum"]));
    run_and_judge(&env, &[], 3);
    assert_eq!(env.session().json("verdict.json")["noWinner"], "noVotes");
    let found = stats(&env, &[]);
    for name in ["kiwi", "plum"] {
        let model = model(&found, name);
        assert_eq!((share(model, "answered"), share(model, "won"), share(model, "approved")), ((1, 1), (0, 0), (0, 0)));
    }
}

#[test]
fn what_has_no_verdict_is_counted_by_its_reason_and_names_nobody() {
    let env = TestEnv::with(&panel().agent("quiet", &["answer Nothing."]).agent("shy", &["answer More."]));
    run_and_judge(&env, &[], 0);
    finish(&env, &["run", "-m", "quiet,shy", "Which one is it?"], 0);
    finish(&env, &["run", "-m", "dead", "Which one is it?"], 4);
    let judged = |session: &&Session| session.has("verdict.json");
    let base = env.path("ai-docs/sessions");
    let good = env.sessions().iter().find(judged).unwrap().clone();
    // The same session in another folder, one whose verdict was changed, one of a newer format, one that is broken.
    copy(&good, &env.path("copies"));
    copy(&good, &env.path("changed"));
    let changed = env.path("changed").join(good.id());
    std::fs::write(changed.join("verdict.json"), good.text("verdict.json").replace("\"round\": 1", "\"round\": 2"))
        .unwrap();
    copy(&good, &env.path("newer"));
    let newer = env.path("newer").join(good.id()).join("session-meta.json");
    std::fs::write(&newer, good.text("session-meta.json").replace("\"version\": 1", "\"version\": 99")).unwrap();
    let broken = env.path("broken/team-x-20260101-000000-0000");
    std::fs::create_dir_all(&broken).unwrap();
    std::fs::write(broken.join("session-meta.json"), "{").unwrap();
    // What is no session is none.
    std::fs::create_dir_all(env.path("broken/notes")).unwrap();
    let folders = ["ai-docs/sessions", "copies", "changed", "newer", "broken"];
    let before = files(&env.project());
    let found = stats(&env, &folders);
    assert_eq!(files(&env.project()), before, "nothing is written");
    assert_eq!(found["sessions"], 1);
    let skipped = json!({"noVerdict": 1, "failed": 1, "changed": 1, "broken": 1, "newer": 1, "copy": 1});
    assert_eq!(found["skipped"], skipped);
    assert_eq!(share(model(&found, "dead"), "failed"), (1, 1), "the failed session says nothing of it");
    for name in ["quiet", "shy"] {
        for form in [&["stats"][..], &["stats", "--json"], &["stats", "--csv"]] {
            let (out, _) = finish(&env, &[form, &[base.to_str().unwrap()]].concat(), 0);
            assert!(!out.contains(name), "{out}");
        }
    }
    // A session can be named itself; a folder that is not there is a mistake.
    assert_eq!(stats(&env, &[good.dir().to_str().unwrap()])["sessions"], 1);
    let (_, err) = finish(&env, &["stats", "no/such/folder"], 2);
    assert!(err.contains("no/such/folder"), "{err}");
}

/// Every file below `dir` with its size.
fn files(dir: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.display().to_string(), path.metadata().unwrap().len())),
        }
    }
    found.sort();
    found
}

#[test]
fn a_session_counts_once_with_its_newest_votes_and_imported_ones_are_apart() {
    let env = TestEnv::with(&panel().agent("fair", &["vote approve"]).agent("firm", &["vote approve"]));
    run_and_judge(&env, &[], 0);
    finish(&env, &["judge", "--judges", "fair,firm"], 0);
    let found = stats(&env, &[]);
    assert_eq!(found["sessions"], 1);
    assert_eq!(share(model(&found, "kiwi"), "approved"), (2, 2), "those of the second round only");
    assert_eq!(share(model(&found, "fair"), "agreed"), (3, 3));

    let session = env.session();
    let votes = session.path("judging/votes.json");
    finish(&env, &["judge", "--import", votes.to_str().unwrap()], 0);
    run_and_judge(&env, &[], 0);
    let found = stats(&env, &[]);
    let groups: Vec<_> = found["groups"].as_array().unwrap().iter().map(|g| (&g["imported"], &g["sessions"])).collect();
    assert_eq!(groups, [(&json!(false), &json!(1)), (&json!(true), &json!(1))]);
    let (table, _) = finish(&env, &["stats"], 0);
    assert!(table.contains("imported votes (N = 1)"), "{table}");
}

#[test]
fn sessions_are_taken_by_time_and_grouped_by_it() {
    let env = TestEnv::with(&panel());
    run_and_judge(&env, &[], 0);
    let session = env.session();
    let today = &session.json("session-meta.json")["started_at"].as_str().unwrap()[..10].to_owned();
    assert_eq!(stats(&env, &["--since", today])["sessions"], 1);
    assert_eq!(stats(&env, &["--until", today])["sessions"], 1, "the whole day");
    assert_eq!(stats(&env, &["--until", "2001-01-01"])["sessions"], 0);
    assert_eq!(stats(&env, &["--since", "2999-01-01T00:00:00Z"])["sessions"], 0);
    assert_eq!(stats(&env, &["--since", "2d"])["sessions"], 1);
    let by_day = stats(&env, &["--by", "day"]);
    assert_eq!(by_day["groups"][0]["name"], json!(today));
    let by_context = stats(&env, &["--by", "context"]);
    assert_eq!((&by_context["groups"][0]["name"], &by_context["groups"][0]["sessions"]), (&Value::Null, &json!(1)));
    assert_eq!(stats(&env, &["--context", "debug"])["sessions"], 0);
    let (_, err) = finish(&env, &["stats", "--since", "yesterday"], 2);
    assert!(err.contains("2026-02-01"), "{err}");
    let (table, _) = finish(&env, &["stats", "--by", "context"], 0);
    assert!(table.contains("no context (N = 1)"), "{table}");
}

#[test]
fn sessions_of_one_kind_of_task_are_counted_alone_and_an_alias_stands_with_what_it_means() {
    let kinds =
        toml::from_str("[debug]\npanel = [\"kiwi\", \"plum\"]\n[recipes]\npanel = [\"plum\", \"sloe\"]").unwrap();
    let env = TestEnv::with(&panel().key("contexts", toml::Value::Table(kinds)));
    let judged = ["run-and-judge", "--self-vote", "slot"];
    finish(&env, &[&judged[..], &["--context", "debug", "Which one is it?"]].concat(), 0);
    finish(&env, &[&judged[..], &["Why does it crash?"]].concat(), 0);
    finish(&env, &[&judged[..], &["--context", "recipes", "Which one is it?"]].concat(), 0);
    let found = stats(&env, &["--context", "debug"]);
    assert_eq!(found["sessions"], 2, "by its name and by the task's words");
    let names: Vec<&Value> =
        found["groups"][0]["models"].as_array().unwrap().iter().map(|model| &model["names"][0]).collect();
    assert_eq!(names, ["kiwi", "plum"]);
    assert_eq!(stats(&env, &["--context", "recipes"])["sessions"], 1);
    let (_, err) = finish(&env, &["stats", "--context", ""], 2);
    assert!(err.contains("the name of a kind of task is empty"), "{err}");
    let (table, _) = finish(&env, &["stats"], 0);
    let told = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("where `name (model)` stands, the name is the one that it has in the newest session"),
        "{table}"
    );
}

#[test]
fn a_vote_on_a_task_counts_for_who_answered_and_agreed_and_nobody_wins() {
    let ballot = |verdict: &str| {
        format!("print ```vote\\nVERDICT: {verdict}\\nCONFIDENCE: 8\\nSUMMARY: So.\\nKEY_ISSUES: None\\n```")
    };
    let config = TeamToml::new()
        .agent("kiwi", &[&ballot("APPROVE")])
        .agent("plum", &[&ballot("APPROVE")])
        .agent("sloe", &[&ballot("REJECT")])
        .panel(&["kiwi", "plum", "sloe"]);
    let env = TestEnv::with(&config);
    finish(&env, &["vote", "Shall we?"], 0);
    let found = stats(&env, &[]);
    let (kiwi, sloe) = (model(&found, "kiwi"), model(&found, "sloe"));
    assert_eq!((share(kiwi, "answered"), share(kiwi, "won"), share(kiwi, "approved")), ((1, 1), (0, 0), (0, 0)));
    // Without its own vote the others are one for and one against; sloe is alone against two.
    assert_eq!((share(kiwi, "agreed"), share(sloe, "agreed")), ((0, 0), (0, 1)));
}

#[test]
fn where_nothing_was_run_nothing_is_counted() {
    let env = TestEnv::new();
    let found = stats(&env, &[]);
    assert_eq!((&found["sessions"], &found["groups"]), (&json!(0), &json!([])));
    let (table, _) = finish(&env, &["stats"], 0);
    assert_eq!(table, "0 sessions count\n");
    assert!(!env.path("ai-docs").exists());
}
