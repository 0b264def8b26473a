//! Sessions without a verdict: told how they stand, without a name and without a number that tells models apart.

use nix::sys::signal::Signal;

use super::document::Document;
use super::{panel, report_of};
use crate::support::{Session, TeamToml, TestEnv, finish, run_and_judge};

/// Fails when a report names a model of the panel, as HTML or as text.
#[track_caller]
fn assert_nobody_is_named(env: &TestEnv, session: &Session, names: &[&str]) -> String {
    let report = report_of(env, 0);
    let (printed, _) = finish(env, &["report", "--text"], 0);
    let html = session.text("report.html");
    for name in names {
        assert!(!html.contains(name), "the file names `{name}`");
        assert!(!printed.contains(name), "the text names `{name}`");
    }
    assert_eq!(
        report.elements("th").filter(|head| head.attribute("scope") == Some("col")).count(),
        6,
        "the time line's"
    );
    report.text()
}

#[test]
fn before_the_verdict_no_model_is_named_and_no_money_or_token_told() {
    let program = env!("CARGO_BIN_EXE_fake-agent");
    let config = panel().agent_with("dear", &["claude An answer."], &[("output", "claude-stream-json".into())]);
    let env = TestEnv::with(&config.panel(&["kiwi", "plum", "sloe", "dead", "dear"]));
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    let usage = || session.json("status.json")["models"][session.id_of("dear")]["usage"].clone();
    assert!(usage().is_null(), "{}", usage());
    let names = ["kiwi", "plum", "sloe", "dead", "dear", program, "fake-agent", "Tokens in"];
    let text = assert_nobody_is_named(&env, &session, &names);
    for part in ["Not judged. 4 of 5 answers are complete", "team judge", "Do it at night.", "no route to the model"] {
        assert!(text.contains(part), "{part}");
    }
    // The report lies in the folder now; a judge's view of it is nobody's name either.
    session.assert_names_nobody(&["kiwi", "plum", "sloe"]);
    // With the verdict they are named, and tokens told.
    finish(&env, &["judge"], 0);
    let text = report_of(&env, 0).text();
    assert!(text.contains("kiwi") && text.contains("Tokens in"), "{text}");
    assert!(usage()["outputTokens"].is_u64(), "{}", usage());
    crate::support::assert_consistent(&session);
}

#[test]
fn a_session_at_work_is_reported_as_it_is_at_that_moment() {
    let env = TestEnv::with(
        &TeamToml::new().agent("kiwi", &["answer First."]).agent("plum", &["hang"]).panel(&["kiwi", "plum"]),
    );
    let mut run = env.start(&["run", "Which one is it?"]);
    let session = env.session_with("status.json");
    let id = session.id_of("kiwi");
    crate::support::wait_until("the first answer", || (session.slot(&id)["state"] == "COMPLETED").then_some(()));
    let text = assert_nobody_is_named(&env, &session, &["kiwi", "plum"]);
    assert!(text.contains("the slots are at work. 1 of 2 answers are complete"), "{text}");
    assert!(text.contains("RUNNING") && text.contains("First."));
    run.signal(Signal::SIGINT);
    run.wait();
    let text = assert_nobody_is_named(&env, &session, &["kiwi", "plum"]);
    assert!(text.contains("the run was stopped") && text.contains("CANCELLED"), "{text}");
}

#[test]
fn an_interrupted_session_and_one_that_failed_say_what_to_do_next() {
    let env = TestEnv::with(
        &TeamToml::new().agent("kiwi", &["answer First."]).agent("plum", &["hang"]).panel(&["kiwi", "plum"]),
    );
    let mut run = env.start(&["run", "Which one is it?"]);
    let session = env.session_with("status.json");
    let id = session.id_of("plum");
    crate::support::wait_until("both at work", || (session.slot(&id)["state"] == "RUNNING").then_some(()));
    run.signal(Signal::SIGKILL);
    run.wait();
    env.wait_for_no_processes();
    let text = assert_nobody_is_named(&env, &session, &["kiwi", "plum"]);
    assert!(text.contains("the process that ran it died") && text.contains("team resume"), "{text}");
    assert!(text.contains("LOST"), "{text}");

    let env =
        TestEnv::with(&TeamToml::new().agent("dead", &["exit 3"]).agent("mute", &["print  "]).panel(&["dead", "mute"]));
    finish(&env, &["run", "Which one is it?"], 4);
    let session = env.session();
    let text = assert_nobody_is_named(&env, &session, &["dead", "mute"]);
    assert!(text.contains("the run failed. 0 of 2 answers are complete"), "{text}");
    assert!(text.contains("nonzero_exit") && text.contains("empty_output"), "{text}");
    let report = Document::read(&session.path("report.html"));
    assert!(report.all().all(|element| element.attribute("id") != Some("compare")), "there is nothing to compare");
}

#[test]
fn imported_judgements_of_two_are_shown_as_win_rates() {
    let env = TestEnv::with(&panel());
    finish(&env, &["run", "Which one is it?"], 0);
    let session = env.session();
    let [kiwi, plum] = ["kiwi", "plum"].map(|name| session.id_of(name));
    let file = env.write("pairs.txt", format!("{kiwi} > {plum}\n{kiwi} > {plum}\n{plum} > {kiwi}\n"));
    let pattern = r"(?<winner>(?<a>\d\d)) > (?<b>\d\d)";
    finish(&env, &["judge", "--import", file.to_str().unwrap(), "--import-pattern", pattern], 0);
    let report = report_of(&env, 0);
    let text = report.text();
    assert!(text.contains("Win rate") && text.contains("67 %"), "{text}");
    assert!(text.contains("imported from"), "{text}");
    let (printed, _) = finish(&env, &["report", "--text"], 0);
    assert!(printed.contains("won") && printed.contains("67 %"), "{printed}");
}

#[test]
fn the_newest_verdict_is_told_after_a_second_round() {
    let env = TestEnv::with(&panel().agent("fair", &["vote reject"]).agent("firm", &["vote reject"]));
    run_and_judge(&env, &[], 0);
    finish(&env, &["judge", "--judges", "fair,firm"], 0);
    let report = report_of(&env, 0);
    let text = report.text();
    assert!(text.contains("Ranking, round 2") && text.contains("fair") && text.contains("firm"), "{text}");
    let judges = report.elements("td").filter(|cell| cell.class("vote") && cell.class("reject")).count();
    assert_eq!(judges, 2 * 3);
}
