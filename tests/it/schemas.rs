//! The published schemas: those of the program, and every file and line that it writes fits them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::support::{APPROVE, Session, TeamToml, TestEnv, finish, wait_until};

/// Writes the checked-in copies anew.
const UPDATE: &str = "UPDATE_SCHEMAS";

fn published() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas")
}

/// The names that the program lists.
fn names(env: &TestEnv) -> Vec<String> {
    let (list, _) = finish(env, &["schema"], 0);
    list.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// A validator that is none of the program's own code, for each schema that it prints.
pub(crate) struct Schemas(BTreeMap<String, Validator>);

impl Schemas {
    pub(crate) fn of(env: &TestEnv) -> Self {
        let (all, _) = finish(env, &["schema", "--json"], 0);
        let all: BTreeMap<String, Value> = serde_json::from_str(&all).unwrap();
        let validator =
            |schema: &Value| jsonschema::draft202012::options().should_validate_formats(true).build(schema).unwrap();
        Self(all.iter().map(|(name, schema)| (name.clone(), validator(schema))).collect())
    }

    #[track_caller]
    pub(crate) fn check(&self, name: &str, document: &Value) {
        let wrong: Vec<String> =
            self.0[name].iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}\n{document:#}");
    }

    #[track_caller]
    fn check_lines(&self, name: &str, lines: &str) -> usize {
        lines.lines().map(|line| self.check(name, &serde_json::from_str(line).unwrap())).count()
    }

    /// Every file of a session, or of a round of votes in it, that has a format.
    #[track_caller]
    fn check_folder(&self, folder: &Session) -> BTreeSet<&'static str> {
        let files = [
            ("session-meta.json", "meta"),
            ("manifest.json", "manifest"),
            ("status.json", "status"),
            ("votes.json", "votes"),
            ("verdict.json", "verdict"),
        ];
        let there: Vec<_> = files.into_iter().filter(|(file, _)| folder.has(file)).collect();
        for (file, schema) in &there {
            self.check(schema, &folder.json(file));
        }
        self.check_lines("events", &folder.text("events.jsonl"));
        there.into_iter().map(|(file, _)| file).collect()
    }

    /// Every file that has a format in a review or a fix, and in everything inside of it; which formats there are.
    #[track_caller]
    pub(crate) fn check_pipeline(&self, session: &Session) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        for file in session.files() {
            let is_vote = Path::new(&file).parent().is_some_and(|folder| folder.ends_with("judging"));
            let schema = match Path::new(&file).file_name().unwrap().to_str().unwrap() {
                "session-meta.json" => "meta",
                "manifest.json" => "manifest",
                "status.json" => "status",
                "votes.json" => "finding-votes",
                "verdict.json" if is_vote => "finding-standings",
                "verdict.json" => "review-verdict",
                "events.jsonl" => "events",
                "findings.jsonl" => "ledger",
                _ => continue,
            };
            if file.ends_with(".jsonl") {
                self.check_lines(schema, &session.text(&file));
            } else {
                self.check(schema, &session.json(&file));
            }
            found.insert(schema);
        }
        found
    }
}

#[test]
fn the_checked_in_schemas_are_those_that_the_program_prints() {
    let env = TestEnv::new();
    let names = names(&env);
    for name in &names {
        let path = published().join(format!("{name}.json"));
        let (printed, _) = finish(&env, &["schema", name], 0);
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&path, &printed).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == printed, "`{}` is another one: look at the change, then set {UPDATE}=1", path.display());
    }
    let there = std::fs::read_dir(published()).unwrap().map(|entry| entry.unwrap().path());
    let there: BTreeSet<String> = there.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(there, names.into_iter().collect::<BTreeSet<_>>());
}

#[test]
fn a_name_that_is_none_is_told_with_those_there_are() {
    let env = TestEnv::new();
    let (_, told) = finish(&env, &["schema", "evnts"], 2);
    assert!(told.contains("evnts") && told.contains("events, stream, status"), "{told}");
}

#[test]
fn every_file_and_line_of_a_judged_run_with_failures_fits_its_schema() {
    let retry = r#"print {"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":0,"error_status":429,"error":"rate_limit"}"#;
    let config = TeamToml::new()
        .agent("zebra", &["answer black and white", "vote approve"])
        .agent("yak", &["answer brown", "vote reject"])
        .agent("xerus", &["answer grey", &format!("vote each {APPROVE}{APPROVE}")])
        .agent("wolf", &["answer grey too", "vote garbage"])
        .agent_with("vole", &[retry, "claude red"], &[("output", "claude-stream-json".into())])
        .agent("urial", &["stderr no", "exit 3"])
        .provider(
            "office",
            &[
                ("wire", "openai-chat".into()),
                ("base_url", "http://127.0.0.1:9/v1".into()),
                ("headers", toml::Value::Table([("X-Org".to_owned(), "acme".into())].into_iter().collect())),
                ("max_concurrent", 1.into()),
            ],
        )
        .model("tapir", &[("use", "office@tapir-1".into()), ("temperature", 0.5.into()), ("seed", 7.into())])
        .panel(&["zebra", "yak", "xerus", "wolf", "vole", "urial", "tapir"]);
    let env = TestEnv::with(&config);
    let (lines, _) = finish(&env, &["run-and-judge", "--json", "--retries", "1", "--jobs", "3", "which?"], 0);
    let schemas = Schemas::of(&env);
    let session = env.session();
    let round = session.round("judging");
    let count = schemas.check_lines("stream", &lines);
    // The judge whose ballot cannot be read is asked once more.
    let repair = round.round("repair");
    assert_eq!(count, session.events().len() + round.events().len() + repair.events().len());
    schemas.check_folder(&repair);
    assert!(lines.contains("slot_retry") && lines.contains("\"event\":\"ballot\""), "{lines}");
    let top = ["manifest.json", "session-meta.json", "status.json", "verdict.json"];
    assert_eq!(schemas.check_folder(&session), top.into());
    assert_eq!(schemas.check_folder(&round), ["manifest.json", "status.json", "verdict.json", "votes.json"].into());
    for (name, arguments) in [
        ("status-output", &["status", "--json"][..]),
        ("list-output", &["list", "--json"]),
        ("show-output", &["show", "--json"]),
        ("show-output", &["show", "--json", "--reveal"]),
        ("stats-output", &["stats", "--json", "--by", "month"]),
    ] {
        let (printed, _) = finish(&env, arguments, 0);
        schemas.check(name, &serde_json::from_str(&printed).unwrap());
    }
    assert!(session.text("events.jsonl").contains("revealed"));
    schemas.check_folder(&session);
    // Judged again, without the judge's own answers being enough for a ranking.
    finish(&env, &["judge", "--json", "--judges", "urial,tapir", "--retries", "0"], 3);
    schemas.check_folder(&session);
    schemas.check_folder(&session.round("judging-2"));
    // Two passes, and ballots from elsewhere: votes and judgements of two.
    finish(&env, &["judge", "--passes", "2", "--leaks", "flag"], 0);
    schemas.check_folder(&session);
    schemas.check_folder(&session.round("judging-3"));
    schemas.check_folder(&session.round("judging-3/pass-2"));
    finish(&env, &["judge", "--import", session.path("judging-3/votes.json").to_str().unwrap()], 0);
    schemas.check_folder(&session.round("judging-4"));
    env.write("pairs.txt", "zebra yak A\nyak xerus tie\n");
    let pattern = r"^(?<a>\S+) (?<b>\S+) (?<winner>\S+)$";
    finish(&env, &["judge", "--import", "pairs.txt", "--import-pattern", pattern], 0);
    schemas.check_folder(&session);
    schemas.check_folder(&session.round("judging-5"));
}

#[test]
fn a_session_at_work_and_one_whose_owner_died_fit_too() {
    let env = TestEnv::with(&TeamToml::new().agent("zebra", &["print one", "hang"]).panel(&["zebra"; 3]));
    let mut run = env.start(&["run", "--jobs", "2", "which?"]);
    let session = env.session_with("status.json");
    wait_until("live fields", || (session.slot("02")["liveBytes"] == 4).then_some(()));
    let schemas = Schemas::of(&env);
    let check = |state: &str| {
        schemas.check_folder(&session);
        let (printed, _) = finish(&env, &["status", "--json"], 0);
        let status: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(status["status"]["models"]["01"]["state"], state);
        schemas.check("status-output", &status);
    };
    check("RUNNING");
    run.signal(Signal::SIGKILL);
    run.wait();
    check("LOST");
    env.wait_for_no_processes();
}
