//! What a person and a program see of a fix: its report, `team show` and the published formats.

use std::path::Path;

use serde_json::Value;

use super::world::{MENDS, Repo, panel};
use crate::report::document::Document;
use crate::schemas::Schemas;

/// The report of the newest session.
#[track_caller]
fn report(repo: &Repo) -> Document {
    let (out, _) = repo.team(&["report"], 0);
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
fn a_parked_fix_shows_what_is_to_be_decided_and_names_nobody_and_a_finished_one_its_rounds_and_its_result() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    repo.fix(&[], 5);
    let page = report(&repo);
    let asked = part(&page, "decision");
    assert!(asked.contains("F01") && asked.contains("team respond"), "{asked}");
    assert!(part(&page, "finding-F01").contains("Raised by 2 of 3 reviewers. Votes: "), "{}", page.text());
    let (text, _) = repo.team(&["report", "--text"], 0);
    assert!(text.contains("a person has to decide. One finding is on record"), "{text}");
    let (shown, _) = repo.team(&["show"], 0);
    assert!(shown.contains("findings so far:\nF01  high  sustained  src/sum.rs:3: "), "{shown}");
    for told in [&page.text(), &text, &shown] {
        for name in ["(ra)", "(rb)", "(rc)", " ra ", " rb ", " rc ", "fake-agent"] {
            assert!(!told.contains(name), "{name}: {told}");
        }
    }

    repo.team(&["respond", "latest", "--fix", "F01", "--note", "keep <b>it</b>"], 0);
    let page = report(&repo);
    assert!(!page.all().any(|element| element.attribute("id") == Some("decision")));
    let branch = repo.new_branches().remove(0);
    let repairs = part(&page, "repairs");
    let commit = repo.git(&["rev-parse", &branch]);
    for words in [
        "Nothing that is sustained at or above the bar is open any more.",
        &commit[..12],
        &format!("git merge {branch}"),
        "git cherry-pick ",
        &format!("git branch -D {branch}"),
        "F01",
        "repair: F01. Note: keep <b>it</b>",
    ] {
        assert!(repairs.contains(words), "{words}: {repairs}");
    }
    let found = part(&page, "finding-F01");
    assert!(
        found.contains("mended") && found.contains("is said to mend it") && found.contains("not there any more"),
        "{found}"
    );
    let seats = part(&page, "panel");
    assert!(seats.contains("all of the change") && seats.contains("what the repair changed"), "{seats}");
    assert!(part(&page, "timeline").contains("fixer 01, round 1"), "{}", part(&page, "timeline"));
    // What `show` prints is the report that the command printed.
    assert!(repo.team(&["show"], 0).0.starts_with(&repo.report()));

    let (json, _) = repo.team(&["show", "--json"], 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["fix"]["rounds"][0]["commit"], commit.as_str());
    assert_eq!(
        (&json["fix"]["stopped"], &json["fix"]["branch"]["name"]),
        (&"converged".into(), &branch.as_str().into())
    );
    assert_eq!(json["findings"][0]["state"], "verified");
    let schemas = Schemas::of(&repo.env);
    schemas.check("show-output", &json);
    let formats = schemas.check_pipeline(&repo.session());
    assert!(
        ["finding-standings", "finding-votes", "ledger", "review-verdict"].iter().all(|name| formats.contains(name))
    );
}

#[test]
fn a_fix_that_repairs_nothing_says_so_and_offers_no_command() {
    let repo = Repo::with(&panel("auto-fix", "cat > /dev/null; echo no"));
    repo.fix(&[], 1);
    let repairs = part(&report(&repo), "repairs");
    assert!(repairs.contains("so there is no branch") && repairs.contains("nothing was changed"), "{repairs}");
    assert!(!repairs.contains("git merge"), "{repairs}");
}
