//! What a person and a program see of a review: its report, `team show` and the published formats.

use std::path::Path;

use serde_json::{Value, json};

use super::world::{Repo, finds, good_panel, invented, planted, reviewers};
use crate::report::document::Document;
use crate::schemas::Schemas;
use crate::support::finish;

/// The report of the newest session.
#[track_caller]
fn report(repo: &Repo, code: i32) -> Document {
    let (out, _) = finish(&repo.env, &["report"], code);
    let report = Document::read(Path::new(out.trim_end()));
    report.assert_nested();
    report
}

/// The text of a part of the report.
#[track_caller]
fn part(report: &Document, id: &str) -> String {
    report.text_of(|element| element.attribute("id") == Some(id))
}

#[test]
fn a_report_tells_each_finding_with_its_votes_who_found_it_and_what_was_looked_at() {
    let repo = Repo::with(&good_panel());
    repo.env.write(".env.local", "KEY=of-the-house\n");
    repo.commit("a key");
    repo.review(&["--intent", "Sum the items"], 1);
    let page = report(&repo, 0);
    let found: Vec<&str> = page
        .elements("article")
        .filter(|element| element.class("finding"))
        .map(|element| element.attribute("id").unwrap())
        .collect();
    // What was sustained stands before what was rejected.
    assert_eq!(found.len(), 2, "{found:?}");
    let ledger = repo.session().text("findings.jsonl");
    let id_of = |title: &str| {
        let line = ledger.lines().find(|line| line.contains(title)).unwrap();
        serde_json::from_str::<Value>(line).unwrap()["finding"].as_str().unwrap().to_owned()
    };
    let (real, false_one) = (id_of("never summed"), id_of("SQL injection"));
    assert_eq!(found, [format!("finding-{real}"), format!("finding-{false_one}")]);
    let told = part(&page, &format!("finding-{real}"));
    for words in [
        "high",
        "src/sum.rs:3",
        "in the way",
        "sustained",
        "unanimous",
        "auto-fix",
        "The loop ends one item early.",
        "As the code shows.",
        "Mend it.",
        "Raised by 2 of 3 reviewers",
        "1 sustain",
        "(ra)",
        "(rb)",
        "(rc) sustains",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let told = part(&page, &format!("finding-{false_one}"));
    assert!(told.contains("2 reject") && told.contains("(ra) rejects") && !told.contains("in the way"), "{told}");
    let seats = part(&page, "panel");
    assert!(seats.contains("rc") && seats.contains("nothing"), "{seats}");
    let coverage = part(&page, "coverage");
    assert!(coverage.contains("1 of 2 files were looked at") && coverage.contains("never sent"), "{coverage}");
    assert!(page.text().contains("Sum the items") && !page.text().contains("of-the-house"));
    assert!(page.text_of(|element| element.name == "h1").contains("Blocked: 1 finding"));
    // The same as text, and each line within its width.
    let (text, _) = finish(&repo.env, &["report", "--text"], 0);
    for words in ["Sustained (1)", "Rejected (1)", "judge ", " rc sustains", "reviewer ", "Not looked at:", "Mend it."]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn show_tells_one_finding_with_its_history_and_json_holds_all_of_them() {
    let repo = Repo::with(&good_panel());
    repo.review(&[], 1);
    let show = |arguments: &[&str], code| finish(&repo.env, &[&["show", "latest"], arguments].concat(), code);
    let (json, _) = show(&["--json"], 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let states: Vec<(&str, &str)> = findings
        .iter()
        .map(|found| (found["finding"]["title"].as_str().unwrap(), found["state"].as_str().unwrap()))
        .collect();
    assert!(states.contains(&("The last item is never summed", "sustained")), "{states:?}");
    assert!(states.contains(&("SQL injection in the query", "rejected")), "{states:?}");
    assert_eq!((&json["fix"], &json["verdict"]["decision"]), (&Value::Null, &json!("blocked")));
    let real = findings.iter().find(|found| found["state"] == "sustained").unwrap()["id"].as_str().unwrap();
    let (text, _) = show(&[real], 0);
    for words in ["never summed", "src/sum.rs:3", "The loop ends one item early.", "What happened to it", "review 1: "]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (one, _) = show(&[real, "--json"], 0);
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["findings"].as_array().unwrap().len(), 1);
    let schemas = Schemas::of(&repo.env);
    schemas.check("show-output", &json);
    schemas.check("show-output", &one);
    let formats = schemas.check_pipeline(&repo.session());
    assert_eq!(
        formats,
        ["events", "finding-standings", "finding-votes", "ledger", "manifest", "meta", "review-verdict", "status"]
            .into()
    );
    let (_, err) = show(&["F77"], 2);
    assert!(err.contains("there is no finding F77") && err.contains(real), "{err}");
    let (_, err) = show(&["Fx"], 2);
    assert!(err.contains("`FX` is not the id of a finding"), "{err}");
}

#[test]
fn what_reviewers_write_does_nothing_in_a_report_and_a_review_that_cannot_be_read_is_not_called_clean() {
    let hostile = json!({
        "severity": "high", "action": "ask-user", "file": "src/<b>.rs", "line": 1,
        "title": format!("<script>alert(1)</script> [x](javascript:alert(2)) {}", "word".repeat(60)),
        "description": "</article><img src=x onerror=alert(3)>\u{202e}", "evidence": "```\n</pre><svg onload=alert(4)>",
        "suggestion": "`x` <style>*{display:none}</style>",
    });
    let repo = Repo::with(&reviewers(&[
        &[&finds(&[hostile]), "weigh sustain"],
        &["answer I like it.", "weigh sustain"],
        &["exit 3"],
    ]));
    repo.review(&["--quorum", "1"], 1);
    let page = report(&repo, 0);
    assert_eq!(page.elements("script").count(), 2, "ours");
    for name in ["img", "style", "svg"] {
        let foreign = page
            .elements(name)
            .filter(|element| element.attribute("onload").is_some() || element.attribute("onerror").is_some());
        assert_eq!(foreign.count(), 0, "{name}");
    }
    assert_eq!(page.elements("style").count(), 1);
    assert!(page.elements("a").all(|link| link.attribute("href").unwrap().starts_with('#')));
    let text = page.text();
    assert!(text.contains("</article><img src=x onerror=alert(3)>") && !text.contains('\u{202e}'), "{text}");
    assert!(text.contains("bad_output: no findings can be read") && text.contains("nonzero_exit"), "{text}");

    let repo = Repo::with(&reviewers(&[&["answer I like it."], &["exit 3"]]));
    repo.review(&[], 4);
    let page = report(&repo, 0);
    let findings = part(&page, "findings");
    assert!(findings.contains("not the same as nothing found"), "{findings}");
    assert!(!page.text().contains("Nothing was found"));
}

#[test]
fn a_ledger_or_ballots_that_were_changed_are_told_and_not_shown() {
    let repo =
        Repo::with(&reviewers(&[&[&finds(&[planted()]), "weigh sustain"], &[&finds(&[invented()]), "weigh reject"]]));
    repo.review(&[], 1);
    let session = repo.session();
    let votes = session.path("reviews/impl-review/judging/votes.json");
    let before = std::fs::read_to_string(&votes).unwrap();
    std::fs::write(&votes, before.replace("\"summary\": \"", "\"summary\": \"CHANGED ")).unwrap();
    let page = report(&repo, 6);
    assert!(!page.text().contains("CHANGED") && page.text().contains("never summed"));
    std::fs::write(&votes, before).unwrap();
    let ledger = session.path("findings.jsonl");
    let changed = std::fs::read_to_string(&ledger).unwrap().replace("never summed", "never SUMMED");
    std::fs::write(&ledger, changed).unwrap();
    let page = report(&repo, 6);
    assert!(!page.text().contains("never SUMMED") && page.text().contains("no finding is shown"), "{}", page.text());
    let (_, err) = finish(&repo.env, &["show", "latest", "F01"], 6);
    assert!(err.contains("findings.jsonl"), "{err}");
}
