//! A person on a terminal is asked what a fix waits for; elsewhere nobody is.

use super::world::{MENDS, PLANTED, Repo, WEIGH, finding, looks, panel, with_fixer};
use crate::support::TeamToml;

const QUESTION: &str = "f, d, s, t or a?";

/// A repository whose panel finds two things that only a person can decide.
fn two_findings(fixer: &str) -> Repo {
    let found = [finding("high", "ask-user", PLANTED), finding("high", "ask-user", "A name says nothing at all")];
    let settings = TeamToml::new().agent("ra", &[&looks(&found), WEIGH]).agent("rb", &[&looks(&found), WEIGH]);
    Repo::with(&with_fixer(settings.panel(&["ra", "rb"]), fixer))
}

#[test]
fn each_finding_is_asked_about_and_the_fix_goes_on_with_the_answers_and_their_notes() {
    let repo = two_findings(&format!("grep -q 'keep the name' && {MENDS}"));
    let mut terminal = repo.env.terminal(120, 60);
    terminal.press("team fix\n");
    terminal.wait_for("1 of 2: F01 (high, sustained) at src/sum.rs:3: A name says nothing at all");
    terminal.press("what\n");
    terminal.wait_for(QUESTION);
    terminal.press("d\n");
    terminal.wait_for("Why? Later rounds and runs are told");
    terminal.press("it says enough\n");
    terminal.wait_for("2 of 2: F02 (high, sustained) at src/sum.rs:3: The last item is never summed");
    terminal.press("f\n");
    terminal.wait_for("How? Return for no note to the fixer");
    terminal.press("keep the name\n");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 0, "{lines:#?}");
    assert_eq!(repo.states(), [("F01", "declined"), ("F02", "verified")].map(|(a, b)| (a.into(), b.into())).into());
    let report = repo.report();
    assert!(report.contains("F01: it says enough; F02: keep the name"), "{report}");
    let register = std::fs::read_to_string(repo.env.path("ai-docs/sessions/declines.jsonl")).unwrap();
    assert!(register.contains("\"note\":\"it says enough\""), "{register}");
}

#[test]
fn what_is_left_open_ends_it_and_an_end_is_one_whatever_was_chosen_before() {
    let repo = two_findings("exit 9");
    let mut terminal = repo.env.terminal(120, 60);
    terminal.press("team fix\n");
    terminal.wait_for("1 of 2: F01");
    terminal.press("s\n");
    terminal.wait_for("2 of 2: F02");
    terminal.press("d\n");
    terminal.wait_for("Why?");
    terminal.press("\n");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 1, "{lines:#?}");
    assert_eq!(repo.states(), [("F01", "sustained"), ("F02", "declined")].map(|(a, b)| (a.into(), b.into())).into());
    assert!(repo.report().contains("left what was still to be decided"), "{}", repo.report());

    let repo = two_findings("exit 9");
    let mut terminal = repo.env.terminal(120, 60);
    terminal.press("team fix\n");
    terminal.wait_for("1 of 2: F01");
    terminal.press("f\n");
    terminal.wait_for("How?");
    terminal.press("\n");
    terminal.wait_for("2 of 2: F02");
    terminal.press("a\n");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 3, "{lines:#?}");
    assert!(!repo.session().dir().join("fixes").exists());
}

#[test]
fn ctrl_c_and_the_end_of_the_input_leave_it_to_later_and_resume_and_respond_ask_again() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    for (command, key) in [("fix", "\x03"), ("resume", "\x04"), ("respond latest", "\x03")] {
        let mut terminal = repo.env.terminal(120, 60);
        terminal.press(&format!("team {command}\n"));
        terminal.wait_for(QUESTION);
        terminal.press(key);
        terminal.wait_for("nothing is decided now");
        let (code, lines) = terminal.leave();
        assert_eq!(code, 5, "{command}: {lines:#?}");
        assert_eq!(repo.session().json("session-meta.json")["status"], "awaiting_decision");
    }
    let mut terminal = repo.env.terminal(120, 60);
    terminal.press("team respond latest\n");
    terminal.wait_for(QUESTION);
    terminal.press("f\n");
    terminal.wait_for("How?");
    terminal.press("\n");
    assert_eq!(terminal.leave().0, 0);
    assert_eq!(repo.states()["F01"], "verified");
}

#[test]
fn nobody_is_asked_who_does_not_want_to_be_or_is_not_there() {
    let repo = Repo::with(&panel("ask-user", "exit 9"));
    let mut terminal = repo.env.terminal(120, 60);
    terminal.press("team -q fix\n");
    assert_eq!(terminal.leave().0, 5);
    for command in [
        "team -q resume",
        "team --json respond latest",
        "CI=true team resume",
        "team resume < /dev/null",
        "team resume 2> err",
    ] {
        let mut terminal = repo.env.terminal(120, 60);
        terminal.press(&format!("{command}\n"));
        let (code, lines) = terminal.leave();
        assert_eq!(code, 5, "{command}: {lines:#?}");
        assert!(!lines.iter().any(|line| line.contains(QUESTION)), "{command}: {lines:#?}");
    }
}

#[test]
fn an_answer_given_elsewhere_meanwhile_is_not_overwritten() {
    let repo = Repo::with(&panel("ask-user", MENDS));
    let mut terminal = repo.env.terminal(120, 60);
    terminal.press("team fix\n");
    terminal.wait_for(QUESTION);
    repo.team(&["respond", "latest", "--skip"], 1);
    terminal.press("f\n");
    terminal.wait_for("How?");
    terminal.press("\n");
    terminal.wait_for("was decided about elsewhere meanwhile");
    assert_eq!(terminal.leave().0, 2);
    assert_eq!(repo.states()["F01"], "sustained");
}
