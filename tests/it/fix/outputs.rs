//! Where the result of a fix goes.

use serde_json::Value;

use super::world::{MENDS, PLANTED, Repo, keys, panel};
use crate::support::finish;

const ALL: [&str; 8] =
    ["--sarif", "out/f.sarif", "--junit", "out/f.xml", "--gitlab", "out/f.json", "--markdown", "out/f.md"];

impl Repo {
    #[track_caller]
    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.env.path(&format!("out/{name}"))).unwrap()
    }

    /// How many results SARIF and GitLab are told of.
    #[track_caller]
    fn results(&self) -> (usize, usize) {
        let sarif: Value = serde_json::from_str(&self.read("f.sarif")).unwrap();
        let quality: Value = serde_json::from_str(&self.read("f.json")).unwrap();
        (sarif["runs"][0]["results"].as_array().unwrap().len(), quality.as_array().unwrap().len())
    }

    /// The report that it prints with `--json` and these options.
    #[track_caller]
    fn json(&self, options: &[&str], code: i32) -> Value {
        let (out, err) = self.fix(&[&["--json"], options].concat(), code);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
    }
}

#[test]
fn what_was_mended_passes_in_every_output_and_the_branch_is_named() {
    let repo = Repo::with(&panel("auto-fix", MENDS));
    let report = repo.json(&ALL, 0);
    assert_eq!((&report["command"], &report["outcome"]), (&"fix".into(), &"approved".into()));
    assert_eq!(report["findings"]["findings"][0]["state"], "verified");
    let branch = repo.new_branches().remove(0);
    assert_eq!(report["fix"]["branch"]["name"], branch.as_str());
    assert_eq!(repo.results(), (0, 0));
    let junit = repo.read("f.xml");
    assert!(junit.contains("name=\"repair of the change\"") && junit.contains("failures=\"0\""), "{junit}");
    assert!(junit.contains(PLANTED) && junit.contains("team.review.high"), "{junit}");
    let markdown = repo.read("f.md");
    assert!(markdown.starts_with("<!-- team fix -->\n## team fix: passed\n"), "{markdown}");
    let name = branch.strip_prefix("team/").unwrap();
    assert!(markdown.contains(name) && markdown.contains("| F01 | high | mended |"), "{markdown}");
    assert!(markdown.contains("1 commit in 1 round"), "{markdown}");
    let schema = finish(&repo.env, &["schema", "gate-output"], 0).0;
    let schema = jsonschema::draft202012::new(&serde_json::from_str(&schema).unwrap()).unwrap();
    let wrong: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_is_open_at_the_end_is_one_result_each() {
    let repo = Repo::with(&panel("auto-fix", "exit 7"));
    repo.fix(&[&["--max-rounds", "0"], &ALL[..]].concat(), 1);
    assert_eq!(repo.results(), (1, 1));
    assert!(repo.read("f.xml").contains("<failure "), "{}", repo.read("f.xml"));
    assert!(repo.read("f.md").contains("## team fix: blocked"), "{}", repo.read("f.md"));
}

#[test]
fn a_fix_that_waits_for_a_person_says_so_to_ci_and_names_no_model() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    let report = repo.json(&ALL, 5);
    assert_eq!((&report["outcome"], &report["exitCode"]), (&"no_decision".into(), &5.into()));
    let raised_by = &report["findings"]["findings"][0]["raisedBy"];
    assert_eq!(raised_by, &serde_json::json!([]), "the verdict is not out");
    assert!(repo.read("f.md").contains("it waits for a decision"), "{}", repo.read("f.md"));
    repo.team(&["respond", "latest", "--fix", "F01"], 0);
}

#[test]
fn outputs_are_written_when_a_fix_cannot_begin() {
    let repo = Repo::with(&panel("auto-fix", MENDS));
    repo.fix(&[&["--base", "nope"], &ALL[..]].concat(), 2);
    assert!(repo.read("f.xml").contains("the fix was not begun"), "{}", repo.read("f.xml"));
    let (_, err) = repo.fix(&["--junit", "-", "--markdown", "-"], 2);
    assert!(err.contains("two outputs would be written to standard output"), "{err}");
}

#[test]
fn an_estimate_of_a_fix_is_of_all_its_rounds_and_writes_nothing() {
    let repo = Repo::with(&panel("auto-fix", MENDS));
    let estimate = |rounds: &str| {
        let (out, err) = repo.fix(&["--estimate", "--json", "--max-rounds", rounds, "--junit", "out/f.xml"], 0);
        assert!(err.contains("nothing was started"), "{err}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let calls = |estimate: &Value, seat: &str| {
        let seats = estimate["seats"].as_array().unwrap();
        seats.iter().find(|found| found["seat"] == seat).map(|found| found["calls"].clone())
    };
    let two = estimate("2");
    assert_eq!(calls(&two, "slot"), Some(serde_json::json!({"low": 1, "high": 15})));
    assert_eq!(calls(&two, "judge"), Some(serde_json::json!({"low": 0, "high": 10})));
    assert_eq!(calls(&two, "fixer"), Some(serde_json::json!({"low": 0, "high": 4})));
    assert_eq!(calls(&estimate("0"), "fixer"), None);
    let (out, _) = repo.fix(&["--estimate"], 0);
    assert!(out.contains("`--max-rounds 3` allows: 7 reviews"), "{out}");
    assert!(repo.env.sessions().is_empty() && !repo.env.path("out").exists());
}

#[test]
fn a_budget_that_does_not_pay_for_one_prompt_is_refused_before_anything_is_made() {
    let provider = [
        ("wire", "openai-chat".into()),
        ("base_url", "http://127.0.0.1:9/v1".into()),
        ("api_key_env", "ZOO_KEY".into()),
    ];
    let price = keys("input = 1000\ncached_input = 1000\noutput = 1000");
    let config = panel("auto-fix", MENDS)
        .provider("zoo", &provider)
        .model("dear", &[("use", "zoo@q".into()), ("price", price)])
        .panel(&["ra", "rb", "dear"]);
    let repo = Repo::with(&config);
    for command in ["review", "fix"] {
        let (_, err) = repo.team(&[command, "--max-cost", "0.01"], 2);
        assert!(err.contains("`--max-cost 0.01` does not pay for asking `dear`"), "{err}");
    }
    assert!(repo.env.sessions().is_empty());
}
