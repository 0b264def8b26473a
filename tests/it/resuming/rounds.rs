//! Rounds of votes that were cut off, stopped, or overtaken by new answers.

use nix::sys::signal::Signal;

use super::world::{PANEL, asked, calls, came_of, count, die, finished, snapshot, undisturbed, world};
use crate::support::{TeamToml, TestEnv, assert_consistent, finish, wait_until};

const RUN: &[&str] = &["run-and-judge", "which is the best?"];

/// Three answers; the judge `slow` votes only when `go` exists.
fn with_slow_judge() -> TestEnv {
    let env = TestEnv::new();
    let step = |word: &str, file: &str| format!("{word} {}", env.path(file).display());
    let config = PANEL.iter().fold(TeamToml::new().panel(&PANEL), |config, name| {
        let answer = if *name == "kiwi" { "answer the best of all" } else { "answer a plain one" };
        config.agent(name, &[&step("note", &format!("{name}.calls")), answer, "vote approve-word best"])
    });
    let slow = [&step("note", "slow.calls")[..], &step("wait-for", "go"), "vote approve-word best"];
    let quick = [&step("note", "quick.calls")[..], "vote approve-word best"];
    env.write("team.toml", config.agent("slow", &slow).agent("quick", &quick).text());
    env
}

#[test]
fn a_round_that_was_stopped_goes_on_with_the_same_judges_and_prompts() {
    let env = with_slow_judge();
    let mut team = env.start(&[RUN, &["--judges", "slow,quick"]].concat());
    wait_until("the slow judge", || (count(&env, "slow", "votes") == 1).then_some(()));
    let session = env.session();
    let round = session.round("judging");
    let quick = round.id_of("quick");
    wait_until("the quick judge", || (round.slot(&quick)["state"] == "COMPLETED").then_some(()));
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130), "{}", team.stderr());
    assert_eq!(round.json("status.json")["state"], "cancelled");
    let manifest = round.text("manifest.json");
    env.write("go", "");
    finish(&env, &["resume"], 0);
    assert_eq!(round.text("manifest.json"), manifest);
    assert!(!session.has("judging-2"));
    let slow = calls(&env, "slow");
    assert_eq!(slow.len(), 2);
    assert_eq!(slow[0], slow[1], "asked again as before");
    assert_eq!(calls(&env, "quick").len(), 1);
    assert_eq!(came_of(&session).winner(), Some("kiwi"));
}

#[test]
fn a_later_round_is_resumed_with_its_own_judges() {
    let env = with_slow_judge();
    env.write("go", "");
    finish(&env, RUN, 0);
    let before: Vec<usize> = PANEL.iter().map(|name| count(&env, name, "votes")).collect();
    die(&env, "slot-end-settled", &["judge", "--judges", "slow,quick"]);
    let session = env.session();
    let done = finished_in(&session, "judging-2");
    // The other one may have been killed before it came to note anything.
    let asked = || count(&env, "slow", "votes") + count(&env, "quick", "votes");
    let asked_before = asked();
    finish(&env, &["resume"], 0);
    assert_eq!(asked(), asked_before + 2 - done);
    assert_eq!(PANEL.iter().map(|name| count(&env, name, "votes")).collect::<Vec<_>>(), before);
    assert!(session.has("judging-2/verdict.json"));
    assert_consistent(&session);
}

/// How many judges of a round are complete.
fn finished_in(session: &crate::support::Session, round: &str) -> usize {
    let round = session.round(round);
    round.files().iter().filter(|file| file.starts_with("response-")).count()
}

#[test]
fn votes_that_had_not_begun_are_not_guessed_and_the_old_verdict_stays() {
    let env = with_slow_judge();
    env.write("go", "");
    finish(&env, RUN, 0);
    let session = env.session();
    let verdict = session.text("verdict.md");
    for point in ["reopen-recorded", "round-recorded"] {
        die(&env, point, &["judge", "--judges", "slow,quick"]);
        let (out, err) = finish(&env, &["resume"], 0);
        assert!(err.contains(&format!("`team judge {}` holds them", session.id())), "{point}: {err}");
        assert_eq!(out, verdict, "{point}");
        assert_eq!(count(&env, "slow", "votes"), 0);
    }
    finish(&env, &["judge", "--judges", "slow,quick"], 0);
    assert!(session.has("judging-2/verdict.json") && !session.has("judging-3"));
    assert_consistent(&session);
}

#[test]
fn what_was_cut_off_is_not_judged_before_it_is_resumed() {
    let env = world();
    for point in ["slot-started:2", "prompt-recorded", "verdict-recorded"] {
        let env = if point == "slot-started:2" { &env } else { &world() };
        die(env, point, RUN);
        let session = env.session();
        let before = snapshot(env);
        let (_, err) = finish(env, &["judge"], 2);
        assert!(err.contains(&format!("`team resume {}`", session.id())), "{point}: {err}");
        assert_eq!(snapshot(env), before, "{point}");
    }
}

#[test]
fn an_answer_that_comes_after_the_verdict_is_judged_in_a_new_round() {
    let env = TestEnv::new();
    let need = format!("need {}", env.path("cured").display());
    let config = TeamToml::new()
        .agent("kiwi", &["answer the best of all", "vote approve-word best"])
        .agent("plum", &["answer a plain one", "vote approve-word best"])
        .agent("pear", &[&need, "answer a late one", "vote approve-word best"])
        .panel(&PANEL);
    env.write("team.toml", config.text());
    env.team(RUN).output().unwrap();
    let session = env.session();
    let pear = session.id_of("pear");
    assert_eq!(session.slot(&pear)["state"], "FAILED");
    env.write("cured", "");
    finish(&env, &["resume", "--failed"], 0);
    assert_eq!(session.slot(&pear)["state"], "COMPLETED");
    let verdict = session.json("verdict.json");
    assert_eq!(verdict["round"], 2);
    assert_eq!(came_of(&session).winner(), Some("kiwi"));
    let (_, err) = finish(&env, &["resume", "--failed"], 0);
    assert!(err.contains("nothing is left to do"), "{err}");
}

#[test]
fn a_judge_that_failed_is_asked_again_on_request_while_its_round_goes_on() {
    let expected = undisturbed(&world(), RUN);
    let env = world();
    die(&env, "votes-written", RUN);
    let session = env.session();
    let done = finished(&session);
    let before = asked(&env, &done);
    finish(&env, &["resume", "--failed"], 0);
    assert_eq!(came_of(&session), expected);
    assert_eq!(asked(&env, &done), before);
}

#[test]
fn a_round_that_is_resumed_is_watched_from_where_it_was() {
    let env = with_slow_judge();
    die(&env, "slot-end-recorded:4", &[RUN, &["--judges", "slow,quick"]].concat());
    // It may have been killed before it came to note anything.
    let before = count(&env, "slow", "votes");
    let mut team = env.start(&["resume"]);
    wait_until("the slow judge", || (count(&env, "slow", "votes") > before).then_some(()));
    let mut watch = env.start(&["status", "--watch"]);
    let session = env.session();
    let slow = session.round("judging").id_of("slow");
    wait_until("what came before", || watch.stdout().contains("LOST").then_some(()));
    env.write("go", "");
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    assert_eq!(watch.wait().code(), Some(0));
    let seen = watch.stdout();
    let line = format!("judge {slow} COMPLETED");
    assert!(seen.lines().filter(|shown| shown.contains(&line)).count() >= 1, "{seen}");
}
