//! What CI systems read.

use std::path::Path;

use serde_json::Value;

use super::world::{Repo, panel, vote};
use super::xsd::Schema;
use crate::support::{TeamToml, TestEnv};

const ALL: [&str; 8] =
    ["--junit", "out/gate.xml", "--sarif", "out/gate.sarif", "--gitlab", "out/gate.json", "--markdown", "out/gate.md"];

/// What acts in one of the formats, as a model may write it.
const HOSTILE: &str = "]]></failure> \\x1b[31m ::error::boo ##[add-mask]x <script>alert(1)</script> @team #12 | `x`";

fn standard(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/standards").join(name)).unwrap()
}

/// Fails unless every file fits the schema that is published for it. Gives the findings of SARIF and GitLab.
#[track_caller]
fn check(repo: &Repo) -> (Vec<Value>, Vec<Value>) {
    Schema::new(&standard("junit-10.xsd")).check(&repo.read("out/gate.xml"));
    // A regular expression of the published file has a bracket too many.
    let schema = standard("sarif-schema-2.1.0.json").replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let sarif: Value = serde_json::from_str(&repo.read("out/gate.sarif")).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(&sarif).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let quality: Vec<Value> = serde_json::from_str(&repo.read("out/gate.json")).unwrap();
    for entry in &quality {
        for field in ["description", "check_name", "fingerprint"] {
            assert!(!entry[field].as_str().unwrap().is_empty());
        }
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&entry["severity"].as_str().unwrap()));
        assert_eq!(entry["location"]["lines"]["begin"], 1);
    }
    (sarif["runs"][0]["results"].as_array().unwrap().clone(), quality)
}

#[test]
fn all_outputs_at_once_fit_what_is_published_and_a_rerun_finds_the_same() {
    let env = TestEnv::new();
    let summary = env.home().join("summary.md");
    std::fs::write(&summary, "before\n").unwrap();
    let repo = Repo::of(env.set("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()), Some(&panel(&["REJECT", "REJECT"])));
    repo.write("src/lib.rs", "fn three() {}\n");
    repo.commit("change");
    let (out, err) = repo.gate(&[&ALL[..], &["--github"]].concat(), 1);
    assert_eq!(out, repo.env.session().text("verdict.md"), "standard output is the verdict");
    let first = check(&repo);
    let result = &first.0[0];
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "src/lib.rs");
    assert_eq!(location["region"]["startLine"], 1);
    assert!(err.lines().any(|line| line.starts_with("::error file=src/lib.rs,line=1,title=team gate")), "{err}");
    let written = std::fs::read_to_string(&summary).unwrap();
    assert!(written.starts_with("before\n") && written.contains("## team gate: rejected"), "{written}");
    assert!(repo.read("out/gate.md").contains("| reject |"));
    // Again, when the branch has gone on.
    repo.write("a.rs", "fn four() {}\n");
    repo.commit("more");
    repo.gate(&ALL, 1);
    let second = check(&repo);
    assert_eq!(first.0[0]["partialFingerprints"], second.0[0]["partialFingerprints"]);
    assert_eq!(first.1[0]["fingerprint"], second.1[0]["fingerprint"]);
}

#[test]
fn a_gate_that_passes_has_no_findings_and_one_case() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    repo.gate(&ALL, 0);
    let (results, quality) = check(&repo);
    assert!(results.is_empty() && quality.is_empty());
    let junit = repo.read("out/gate.xml");
    assert!(junit.contains("tests=\"1\"") && junit.contains("errors=\"0\" failures=\"0\""), "{junit}");
}

#[test]
fn one_output_can_go_to_standard_output_in_place_of_the_verdict() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    for (option, begins) in
        [("--junit", "<?xml "), ("--sarif", "{\n"), ("--gitlab", "[]\n"), ("--markdown", "<!-- team")]
    {
        let (out, err) = repo.gate(&[option, "-"], 0);
        assert!(out.starts_with(begins) && !out.contains("# Verdict"), "{option}: {out}");
        assert!(err.contains("session: "), "{err}");
    }
    let (out, _) = repo.gate(&["--sarif", "-", "--base", "nope"], 2);
    let sarif: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "team-gate/failed");
    assert!(!repo.env.path("-").exists());
}

#[test]
fn what_decides_nothing_is_in_every_output() {
    let repo = Repo::changed(&panel(&["APPROVE", "REJECT"]));
    repo.gate(&ALL, 3);
    let (results, quality) = check(&repo);
    assert_eq!((results.len(), quality.len()), (1, 1));
    assert_eq!(results[0]["ruleId"], "team-gate/no-decision");
    assert!(repo.read("out/gate.xml").contains("<error "));
    assert!(repo.read("out/gate.md").contains("no decision"));
}

#[test]
fn hostile_words_of_a_model_do_nothing_in_any_output() {
    let steps = vote("REJECT", HOSTILE);
    let repo = Repo::changed(&TeamToml::new().agent("ma", &[&steps]).agent("mb", &[&steps]).panel(&["ma", "mb"]));
    let (out, err) = repo.gate(&[&ALL[..], &["--github"]].concat(), 1);
    check(&repo);
    let junit = repo.read("out/gate.xml");
    assert_eq!(junit.matches("</failure>").count(), 1, "{junit}");
    for text in [&repo.read("out/gate.md"), &out] {
        assert!(!text.contains("<script>") && !text.contains("##[") && !text.contains('\u{1b}'), "{text}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
    }
    assert!(!repo.read("out/gate.md").contains("@team"));
    // What is printed before the result commands nothing.
    let lines: Vec<&str> = err.lines().collect();
    let token = lines.iter().find_map(|line| line.strip_prefix("::stop-commands::")).unwrap();
    let end = lines.iter().position(|line| *line == format!("::{token}::")).unwrap();
    for line in &lines[end + 1..] {
        let command = line.starts_with("::error ") || line.starts_with("::warning ") || line.starts_with("::notice ");
        assert!(command || !line.contains("boo"), "{line}");
    }
    let (json, _) = repo.gate(&["--json", "--github"], 1);
    assert!(!json.contains("##["), "{json}");
    let report: Value = serde_json::from_str(&json).unwrap();
    assert!(report["ruling"]["members"][0]["summary"].as_str().unwrap().contains("##[add-mask]x"));
}

#[test]
fn json_is_one_object_that_fits_its_schema_however_the_gate_ends() {
    let schema = |repo: &Repo| {
        let (schema, _) = crate::support::finish(&repo.env, &["schema", "gate-output"], 0);
        jsonschema::draft202012::new(&serde_json::from_str(&schema).unwrap()).unwrap()
    };
    let check = |repo: &Repo, options: &[&str], code: i32| {
        let report = repo.report(options, code);
        let schema = schema(repo);
        let wrong: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?} {report:#}");
        assert_eq!(report["exitCode"], code);
    };
    let approved = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    approved.write("b.bin", b"\0");
    approved.write("team.toml", "");
    approved.commit("more");
    check(&approved, &[], 3);
    check(&approved, &["--base", "nope"], 2);
    check(&Repo::new(&panel(&["APPROVE", "APPROVE"])), &[], 0);
}
