//! Which setting chooses the panel.

use serde_json::Value;
use toml::{Table, Value as Toml};

use crate::support::{TeamToml, TestEnv, finish};

/// Agents of these names that answer.
fn agents(names: &[&str]) -> TeamToml {
    names.iter().fold(TeamToml::new(), |config, name| config.agent(name, &["swallow", "print An answer."]))
}

/// `[contexts]` with these panels, and words of their own where there are any.
fn contexts(kinds: &[(&str, &[&str], &[&str])]) -> Toml {
    let list = |names: &[&str]| Toml::Array(names.iter().copied().map(Toml::from).collect());
    let kind = |(name, panel, words): &(&str, &[&str], &[&str])| {
        let mut table = Table::from_iter([("panel".to_owned(), list(panel))]);
        if !words.is_empty() {
            table.insert("words".to_owned(), list(words));
        }
        ((*name).to_owned(), Toml::Table(table))
    };
    Toml::Table(kinds.iter().map(kind).collect())
}

/// The models of the only session, sorted, and what its record says of who chose them.
fn asked(env: &TestEnv) -> (Vec<String>, Value) {
    let session = env.session();
    let manifest = session.json("manifest.json");
    let mut names: Vec<String> = manifest["models"]
        .as_object()
        .unwrap()
        .values()
        .map(|entry| entry["model"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    let chosen = session.events()[0]["plan"]["panel"].clone();
    std::fs::remove_dir_all(session.dir()).unwrap();
    (names, chosen)
}

#[test]
fn the_words_of_the_task_choose_a_panel_unless_something_nearer_does() {
    let config = agents(&["quoll", "wombat", "bilby", "numbat"])
        .panel(&["quoll"])
        .key("contexts", contexts(&[("debug", &["wombat"], &[]), ("recipes", &["bilby"], &["bake", "oven"])]));
    let env = TestEnv::with(&config);

    let (_, err) = finish(&env, &["run", "Why does it crash? A bug in the oven?"], 0);
    assert!(err.contains("`[contexts.debug]` of `"), "{err}");
    assert!(err.contains("chosen by the task's words: crash, bug"), "{err}");
    let (names, chosen) = asked(&env);
    assert_eq!(names, ["wombat"]);
    assert_eq!(chosen, serde_json::json!({"layer": "project", "context": "debug", "words": ["crash", "bug"]}));

    let (_, err) = finish(&env, &["run", "How long do I bake it?"], 0);
    assert!(err.contains("chosen by the task's words: bake"), "{err}");
    assert_eq!(asked(&env).0, ["bilby"]);

    let (_, err) = finish(&env, &["run", "Why is the sky blue?"], 0);
    assert!(err.contains("panel: `panel` of `"), "{err}");
    let (names, chosen) = asked(&env);
    assert_eq!((names, chosen["layer"].as_str()), (vec!["quoll".to_owned()], Some("project")));

    finish(&env, &["run", "--context", "recipes", "Why does it crash?"], 0);
    let (names, chosen) = asked(&env);
    assert_eq!(
        (names, chosen),
        (vec!["bilby".to_owned()], serde_json::json!({"layer": "project", "context": "recipes"}))
    );

    let (_, err) = finish(&env, &["run", "-m", "numbat", "--context", "recipes", "Why does it crash?"], 0);
    assert!(!err.contains("panel:"), "{err}");
    assert!(err.contains("warning: `--context recipes` is passed over: `-m` names the panel"), "{err}");
    let (names, chosen) = asked(&env);
    assert_eq!((names, chosen["layer"].as_str()), (vec!["numbat".to_owned()], Some("flag")));

    let env = env.set("TEAM_PANEL", "numbat,quoll");
    finish(&env, &["run", "Why does it crash?"], 0);
    let (names, chosen) = asked(&env);
    assert_eq!(names, ["numbat", "quoll"], "what was set for this shell is nearer than a guess");
    assert_eq!(chosen["layer"], "environment");
    let (_, err) = finish(&env, &["run", "--context", "recipes", "x"], 0);
    assert!(err.contains("warning: `$TEAM_PANEL` is passed over: `--context` goes before it"), "{err}");
    let (_, err) = finish(&env, &["run", "--context", " ", "x"], 2);
    assert!(err.contains("the name of a kind of task is empty"), "{err}");
}

#[test]
fn a_panel_that_a_guess_by_the_tasks_words_goes_before_is_told() {
    let config =
        agents(&["quoll", "wombat"]).panel(&["quoll"]).key("contexts", contexts(&[("debug", &["wombat"], &[])]));
    let env = TestEnv::with(&config);
    let (_, err) = finish(&env, &["run", "Why does it crash?"], 0);
    assert!(
        err.contains("warning: `panel` is passed over: by its words the task is one for `[contexts.debug]`"),
        "{err}"
    );
    let (_, err) = finish(&env, &["run", "Why is the sky blue?"], 0);
    assert!(!err.contains("passed over"), "{err}");
}

#[test]
fn a_kind_of_task_that_has_no_panel_is_told_with_those_that_have() {
    let config = agents(&["quoll"]).panel(&["quoll"]).key("contexts", contexts(&[("debug", &["quoll"], &[])]));
    let env = TestEnv::with(&config);
    let (_, err) = finish(&env, &["run", "--context", "debgu", "x"], 2);
    assert!(err.contains("no panel is configured for `debgu`") && err.contains("did you mean `debug`?"), "{err}");
    assert_eq!(env.sessions().len(), 0);
}

#[test]
fn the_preferences_of_the_other_program_are_below_our_panel() {
    let env = TestEnv::with(&agents(&["quoll", "wombat", "bilby"]));
    let preferences = r#"{"defaultModels": ["quoll", "short"], "defaultThreshold": "majority",
        "contextPreferences": {"debug": ["wombat"]}, "customAliases": {"short": "bilby"}}"#;
    env.write(".claude/multimodel-team.json", preferences);
    let (_, err) = finish(&env, &["run", "Why is the sky blue?"], 0);
    assert!(err.contains("panel: `defaultModels` of `"), "{err}");
    let (names, chosen) = asked(&env);
    assert_eq!((names, chosen["layer"].as_str()), (vec!["quoll".to_owned(), "short".to_owned()], Some("imported")));
    finish(&env, &["run", "a bug"], 0);
    assert_eq!(asked(&env).0, ["wombat"]);
    env.write("team.toml", agents(&["quoll", "wombat", "bilby"]).panel(&["bilby"]).text());
    finish(&env, &["run", "a bug"], 0);
    assert_eq!(asked(&env).0, ["bilby"]);
}

#[test]
fn an_alias_that_is_gone_is_left_out_alone_and_the_verdict_says_so() {
    let votes = &["answer An answer.", "vote approve"];
    let config = TeamToml::new().agent("quoll", votes).agent("wombat", votes).panel(&["quoll", "womabt", "wombat"]);
    let env = TestEnv::with(&config);
    let (verdict, err) = finish(&env, &["run-and-judge", "Which one?"], 0);
    assert!(
        err.contains("warning: `womabt` is left out of the panel: unknown model `womabt`; did you mean `wombat`?"),
        "{err}"
    );
    assert!(verdict.contains("`womabt` of the configured panel was left out"), "{verdict}");
    let (names, chosen) = asked(&env);
    assert_eq!(
        (names, &chosen["leftOut"]),
        (vec!["quoll".to_owned(), "wombat".to_owned()], &serde_json::json!(["womabt"]))
    );

    // What is written by hand is a slip of right now.
    let (_, err) = finish(&env, &["run", "-m", "quoll,womabt", "x"], 2);
    assert!(err.contains("unknown model `womabt`"), "{err}");
    let env = env.set("TEAM_PANEL", "quoll,womabt");
    finish(&env, &["run", "x"], 2);
    assert_eq!(env.sessions().len(), 0);
}

#[test]
fn a_panel_of_which_nothing_is_left_is_refused_with_what_exists() {
    let env = TestEnv::with(&agents(&["quoll"]).panel(&["gone", "lost"]));
    let (_, err) = finish(&env, &["run", "x"], 2);
    assert!(err.contains("2 models cannot be asked") && err.contains("known: aliases quoll;"), "{err}");
    assert_eq!(env.sessions().len(), 0);
}

#[test]
fn without_any_setting_what_is_found_is_asked_one_per_vendor_and_told() {
    let claude = "#!/bin/sh\nexec fake-agent swallow 'claude An answer.'\n";
    let codex = "#!/bin/sh\necho never\n";
    let env = TestEnv::new().program("claude", claude).program("codex", codex).set("ANTHROPIC_API_KEY", "dummy");
    // Aliases are for their writer to choose from; without a sign-in, codex is none that can be asked.
    env.write("team.toml", "[models.mine]\ncommand = [\"fake-agent\"]\n[models.other]\nuse = \"openai@gpt-4o\"\n");
    let (_, err) = finish(&env, &["run", "Why is the sky blue?"], 0);
    assert!(
        err.contains("panel: none is configured; found here, one per vendor: claude (`--remember` keeps it)"),
        "{err}"
    );
    let (names, chosen) = asked(&env);
    assert_eq!((names, chosen["layer"].as_str()), (vec!["claude".to_owned()], Some("found")));
}

#[test]
fn where_nothing_is_found_nothing_is_asked() {
    let env = TestEnv::new();
    let (_, err) = finish(&env, &["run", "x"], 2);
    assert!(err.contains("no models are named") && err.contains("`team models`"), "{err}");
    assert_eq!(env.sessions().len(), 0);
}
