//! What a person declined in one run is known in later ones on the branch, and silences nothing else.

use serde_json::Value;

use super::world::{MENDS, PLANTED, Repo, WEIGH, finding, looks, with_fixer};
use crate::support::{Session, TeamToml};

/// Why it was declined.
const NOTE: &str = "the last one is a sentinel";

/// Two reviewers who find the planted fault, and two who find it to be worse.
fn panels() -> TeamToml {
    let agent = |settings: TeamToml, name: &str, severity: &str| {
        settings.agent(name, &[&looks(&[finding(severity, "ask-user", PLANTED)]), WEIGH])
    };
    let settings = agent(agent(TeamToml::new(), "ra", "high"), "rb", "high");
    let settings = agent(agent(settings, "wa", "critical"), "wb", "critical");
    with_fixer(settings.panel(&["ra", "rb"]), MENDS)
}

/// A repository in which a first fix was held and its finding declined.
fn declined() -> (Repo, Session) {
    let repo = Repo::with(&panels());
    repo.git(&["config", "user.name", "Ada"]);
    let (_, err) = repo.fix(&[], 5);
    let session = session_in(&err);
    repo.team(&["respond", "latest", "--decline", "F01", "--note", NOTE], 0);
    (repo, session)
}

/// The session that a command told of.
#[track_caller]
fn session_in(err: &str) -> Session {
    let found = err.lines().find_map(|line| line.strip_prefix("session: "));
    Session::at(found.unwrap_or_else(|| panic!("{err}")))
}

/// The kinds of entries in a session's ledger, after the first.
fn entries(session: &Session) -> Vec<String> {
    let ledger = session.text("findings.jsonl");
    let kind = |line: &str| serde_json::from_str::<Value>(line).unwrap()["entry"].as_str().unwrap().to_owned();
    ledger.lines().skip(1).map(kind).collect()
}

#[test]
fn a_decline_holds_in_later_fixes_and_reviews_of_the_branch_which_tell_who_decided_and_why() {
    let (repo, first) = declined();
    let told = "was declined before, by Ada on ";
    for command in ["fix", "review"] {
        let (out, err) = repo.team(&[command], 0);
        let session = session_in(&err);
        assert!(err.contains("one finding was declined before"), "{err}");
        assert_eq!(entries(&session), ["raised", "declined"], "{command}");
        let prompt = session.text("reviews/impl-review/input.md");
        assert!(prompt.contains("Earlier (high, src/sum.rs:3)") && prompt.contains(NOTE), "{prompt}");
        let consolidated = session.text("reviews/impl-review/consolidated.md");
        let origin = format!("as F01 of `{}`", first.id());
        for part in [told, NOTE, &origin, "## Mended or declined (1)"] {
            assert!(consolidated.replace('\\', "").contains(part), "{part}\n{consolidated}");
        }
        assert!(out.contains(NOTE), "{out}");
        let (checked, _) = repo.team(&["verify", &session.id()], 0);
        assert!(checked.contains("verified"), "{checked}");
    }
}

#[test]
fn what_is_said_to_be_worse_is_raised_anew_and_judges_are_told_what_was_declined() {
    let (repo, _) = declined();
    let (out, err) = repo.fix(&["-m", "wa,wb"], 5);
    let session = session_in(&err);
    assert!(out.contains("## F01 (critical, sustained)"), "{out}");
    let consolidated = session.text("reviews/impl-review/consolidated.md");
    assert!(consolidated.contains("F01 is one that was declined as high, by Ada on"), "{consolidated}");
    assert!(consolidated.contains("said to be critical now, so it was raised anew"), "{consolidated}");
    // It is told in the session that was decided about as well: a later round of it that finds worse asks again.
    repo.team(&["respond", "latest", "--decline", "F01"], 0);
    let (_, err) = repo.team(&["review", "-m", "wa,wb"], 0);
    assert_eq!(entries(&session_in(&err)), ["raised", "declined"]);
}

#[test]
fn a_decline_is_taken_back_while_a_fix_waits_and_after_a_session_has_ended() {
    let (repo, first) = declined();
    let (_, err) = repo.team(&["review"], 0);
    let review = session_in(&err);
    for (session, id, wrong, told) in [
        (&review, "--reopen", "F07", "there is no finding F07"),
        (&first, "--decline", "F01", "F01 is declined already"),
        (&review, "--fix", "F01", "has ended, and waits for no decision"),
    ] {
        let (_, err) = repo.team(&["respond", &session.id(), id, wrong], 2);
        assert!(err.contains(told), "{told}: {err}");
    }
    let before = review.text("findings.jsonl");
    let (_, err) = repo.team(&["respond", &review.id(), "--reopen", "F01"], 0);
    assert!(err.contains("kept for later reviews and fixes of the branch: open F01 again"), "{err}");
    assert_eq!(review.text("findings.jsonl"), before);
    repo.team(&["review"], 1);
    // Of a review that ended a finding can be declined, too.
    let (_, err) = repo.team(&["respond", "latest", "--decline", "F01", "--note", "as it was"], 0);
    assert!(err.contains("leave F01 as it is"), "{err}");
    let (_, err) = repo.team(&["fix", "--add", "x"], 2);
    assert!(err.contains("--add"), "{err}");
    repo.team(&["fix"], 0);
    let (_, err) = repo.team(&["respond", &first.id(), "--reopen", "F01"], 2);
    assert!(err.contains("F01 is not declined"), "{err}");
}

#[test]
fn a_fix_that_waits_takes_back_what_was_declined_before_and_has_it_repaired() {
    let (repo, first) = declined();
    let other = finding("high", "ask-user", "A name says nothing at all");
    let both = [finding("high", "ask-user", PLANTED), other];
    let settings = panels().agent("ba", &[&looks(&both), WEIGH]).agent("bb", &[&looks(&both), WEIGH]);
    repo.git(&["checkout", "-q", "main"]);
    repo.env.write("team.toml", settings.text());
    repo.commit("more reviewers");
    repo.git(&["checkout", "-q", "topic"]);
    repo.git(&["rebase", "-q", "main"]);
    let (out, err) = repo.fix(&["-m", "ba,bb"], 5);
    let session = session_in(&err);
    assert!(out.contains("A name says nothing") && !out.contains("never summed"), "{out}");
    let ids: Vec<String> = entries(&session);
    assert!(ids.contains(&"declined".to_owned()), "{ids:?}");
    let declined = session.text("findings.jsonl");
    let declined = declined.lines().find(|line| line.contains("\"entry\":\"declined\"")).unwrap();
    let declined: Value = serde_json::from_str(declined).unwrap();
    assert_eq!(declined["before"]["session"], first.id().as_str());
    let id = declined["finding"].as_str().unwrap().to_owned();
    repo.team(&["verify", "latest"], 0);
    let other = if id == "F01" { "F02" } else { "F01" };
    repo.team(&["respond", "latest", "--fix", &id, "--decline", other], 0);
    let states: Vec<String> = entries(&session);
    assert!(states.contains(&"reopened".to_owned()) && states.contains(&"verified".to_owned()), "{states:?}");
    repo.team(&["verify", "latest"], 0);
    let (_, err) = repo.team(&["respond", &first.id(), "--reopen", "F01"], 2);
    assert!(err.contains("F01 is not declined"), "{err}");
}

#[test]
fn a_decline_follows_the_branch_when_it_is_renamed_rewritten_or_left_and_does_not_hold_on_another() {
    let (repo, _) = declined();
    repo.git(&["branch", "-m", "renamed"]);
    repo.team(&["review"], 0);
    repo.git(&["branch", "-m", "topic"]);
    repo.git(&["commit", "-q", "--amend", "-m", "other words"]);
    repo.team(&["review"], 0);
    repo.git(&["reset", "-q", "--hard", "HEAD@{1}"]);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.git(&["branch", "-q", "-D", "topic"]);
    repo.team(&["review"], 0);
    // The same fault, planted by somebody else.
    repo.git(&["checkout", "-q", "-b", "other", "main"]);
    repo.env.write("src/sum.rs", super::world::FAULTY);
    repo.commit("a loop of somebody's");
    let (_, err) = repo.team(&["review"], 1);
    assert!(!err.contains("declined before"), "{err}");
}

#[test]
fn what_git_tracks_is_not_believed_to_be_a_persons_decision() {
    let (repo, _) = declined();
    repo.git(&["add", "-f", "ai-docs/sessions/declines.jsonl"]);
    let (_, err) = repo.team(&["review"], 1);
    assert!(err.contains("earlier declines are not taken into account: git tracks"), "{err}");
    let (_, err) = repo.team(&["respond", "latest", "--decline", "F01"], 2);
    assert!(err.contains("the decision is not kept for later runs: git tracks"), "{err}");
    repo.git(&["rm", "-q", "--cached", "ai-docs/sessions/declines.jsonl"]);
    // What cannot be read is told of and passed over; the rest holds.
    let path = repo.env.path("ai-docs/sessions/declines.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{{\"version\":9}}\nx\n{text}tor")).unwrap();
    let (_, err) = repo.team(&["review"], 0);
    for told in ["line 1: written by a newer `team`", "line 2: no decision that can be read", "line 4: no decision"] {
        assert!(err.contains(told), "{told}\n{err}");
    }
}
