//! One run, its judging and its verdict: everything that is written, said, sent, or in sight of a slot or a judge.

use std::path::Path;

use nix::sys::signal::Signal;
use team::isolation::{Level, Preference, probe};

use super::panel::{CANCELLED, LAST, NAMES, SEATS, SPY, World, world};
use crate::support::{Background, Session, TestEnv, assert_consistent, finish, wait_until};

/// Fails when `text` says a name; `but` are the words that it may say.
#[track_caller]
fn assert_nobody(what: &str, text: &str, but: &[&str]) {
    let lower = text.to_lowercase();
    for name in NAMES.iter().filter(|name| !but.contains(name)) {
        if let Some(at) = lower.find(name) {
            let around: String =
                lower.chars().skip(lower[..at].chars().count().saturating_sub(200)).take(400).collect();
            panic!("{what} names `{name}`: ..{around}..");
        }
    }
}

/// Every file and its name, but the manifests. What a model itself wrote is kept as it is: there it may say what it is
/// called, and nobody else.
#[track_caller]
fn assert_files(session: &Session, when: &str) {
    // What the spy saw is looked at by itself.
    let files = session.files().into_iter().filter(|file| !file.ends_with("manifest.json") && !file.ends_with("/look"));
    for file in files {
        let own = written_by(session, &file)
            .map_or(&[][..], |model| SEATS.iter().find(|seat| seat.model == model).map_or(&[][..], |seat| seat.own));
        // What comes and goes while it is looked at has no final name yet.
        let Ok(bytes) = std::fs::read(session.path(&file)) else { continue };
        assert_nobody(&format!("{when}, `{file}`"), &String::from_utf8_lossy(&bytes), own);
        assert_nobody(when, &file, &[]);
    }
}

/// The model that wrote this file itself: an answer, a part of one, something in its own folder.
fn written_by(session: &Session, file: &str) -> Option<String> {
    let (round, name) = match file.strip_prefix("judging/") {
        Some(name) => (session.round("judging"), name),
        None => (session.clone(), file),
    };
    let id = if let Some(rest) = name.strip_prefix("work/") {
        rest.split('/').next()
    } else if let Some(rest) = name.strip_prefix("errors/") {
        rest.strip_suffix(".partial.md")
    } else {
        name.trim_start_matches('.').strip_prefix("response-").and_then(|rest| rest.split('.').next())
    }?;
    let manifest = round.json("manifest.json");
    Some(manifest["models"][id]["model"].as_str()?.to_owned())
}

/// Everything that can be asked of a session.
#[track_caller]
fn assert_said(env: &TestEnv, session: &Session, when: &str) {
    let id = session.id();
    let mut asked: Vec<Vec<&str>> = Vec::new();
    for command in [&["status", &id][..], &["list"], &["show", &id], &["verify", &id]] {
        asked.push(command.to_vec());
        asked.push([command, &["--json"]].concat());
        asked.push([command, &["-v"]].concat());
    }
    let slots = session.slots();
    for slot in &slots {
        asked.push(vec!["show", &id, slot]);
        asked.push(vec!["show", &id, slot, "--json"]);
    }
    for command in asked {
        let output = env.team(&command).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        // An answer is shown as it is.
        let own = command.get(2).filter(|_| command[0] == "show").and_then(|slot| {
            let model = written_by(session, &format!("response-{slot}.md"))?;
            SEATS.iter().find(|seat| seat.model == model).map(|seat| seat.own)
        });
        let own = own.filter(|_| session.has(&format!("response-{}.md", command[2])));
        let own: Vec<&str> = match (own, command[0]) {
            (Some(own), _) => own.to_vec(),
            (None, "show") => answers_of(session),
            (None, _) => Vec::new(),
        };
        assert_nobody(&format!("{when}, `team {}`", command.join(" ")), &String::from_utf8_lossy(&text), &own);
    }
}

/// What authors of complete answers call themselves.
fn answers_of(session: &Session) -> Vec<&'static str> {
    let written = session.files().into_iter().filter(|file| file.starts_with("response-"));
    let authors: Vec<String> = written.filter_map(|file| written_by(session, &file)).collect();
    SEATS
        .iter()
        .filter(|seat| authors.iter().any(|author| author == seat.model))
        .flat_map(|seat| seat.own)
        .copied()
        .collect()
}

fn ended(folder: &Session, id: &str) -> bool {
    !matches!(folder.slot(id)["state"].as_str(), Some("PENDING" | "RUNNING") | None)
}

fn ending(folder: &Session, model: &str) -> String {
    let slot = folder.slot(&folder.id_of(model));
    let reason = slot["error"]["reason"].as_str().map(|reason| format!(" {reason}"));
    slot["state"].as_str().unwrap().to_owned() + &reason.unwrap_or_default()
}

/// How processes are kept apart here in this way.
fn processes(isolation: Preference) -> Level {
    probe(isolation, Some(Path::new(env!("CARGO_BIN_EXE_team")))).mechanism.files()
}

/// Lets the spy of this folder look around, and gives what it saw.
#[track_caller]
fn look(folder: &Session) -> String {
    let work = folder.path(&format!("work/{}", folder.id_of(SPY)));
    wait_until("the spy", || work.is_dir().then_some(()));
    std::fs::write(work.join("go"), "").unwrap();
    wait_until("a look around", || work.join("seen").exists().then_some(()));
    String::from_utf8_lossy(&std::fs::read(work.join("look")).unwrap()).into_owned()
}

/// Fails when the spy saw the name of anybody but itself in what must hold at this level.
#[track_caller]
fn assert_seen(when: &str, look: &str, level: Level) {
    let parts: Vec<&str> = look.split("<==> ").collect();
    let part =
        |name: &str| *parts.iter().find(|part| part.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {look}"));
    let spy = SEATS.iter().find(|seat| seat.model == SPY).unwrap().own;
    // The test is not blind: it looked, and saw itself.
    assert!(part("itself").contains(SPY) && part("itself").contains("PWD="), "{look}");
    assert!(part("all processes").contains(SPY), "{look}");
    let kept: &[&str] = match level {
        // A namespace: there is nobody but itself, and nothing but its own.
        Level::Enforced => {
            &["itself", "shared folders", "its supervisors", "what holds", "all processes", "all of the session"]
        }
        // Landlock: the processes of others stay in sight, by what the system tells everybody of them.
        Level::Partial => &["itself", "its supervisors", "what holds", "all of the session"],
        // Nothing is kept, and `team` itself still tells nobody: programs have names, and the user's own command line.
        Level::Convention => &["itself", "its supervisors"],
    };
    for name in kept {
        assert_nobody(&format!("{when}, a look at {name}"), part(name), spy);
    }
    let everything_is_open = level == Level::Convention;
    assert_eq!(part("all of the session").contains("shuffleOrder"), everything_is_open, "{when}: {look}");
}

/// A run of the panel at its gate: the spy has looked, and all have ended that end by themselves.
#[track_caller]
fn run_to_the_gate(world: &World, level: Level) -> (Background, Session) {
    let env = &world.env;
    let panel: Vec<&str> = SEATS.iter().map(|seat| seat.model).collect();
    let run = env.start(&["run", "-v", "-m", &panel.join(","), "Which one is it?"]);
    let session = env.session_with("status.json");
    let id_of = |model: &str| session.id_of(model);
    for model in [LAST, CANCELLED[0]] {
        wait_until(model, || (session.slot(&id_of(model))["state"] == "RUNNING").then_some(()));
    }
    wait_until("an agent to be seen", || {
        env.processes().iter().any(|(_, line)| line.contains("bin/bilby")).then_some(())
    });
    assert_seen("during the run", &look(&session), level);
    let stay = [LAST, CANCELLED[0], CANCELLED[1]].map(id_of);
    wait_until("the others", || {
        session.slots().iter().filter(|id| !stay.contains(id)).all(|id| ended(&session, id)).then_some(())
    });
    wait_until("a retry", || {
        session.slot(&stay[2])["activity"].as_str().is_some_and(|activity| activity.starts_with("retry")).then_some(())
    });
    (run, session)
}

#[test]
fn until_the_verdict_nothing_but_a_manifest_names_anybody_and_then_the_verdict_does() {
    let level = processes(Preference::Strongest);
    let world = world("");
    let env = &world.env;
    let (mut run, session) = run_to_the_gate(&world, level);
    let mut watch = env.start(&["status", "--watch", "-v"]);
    let mut watch_json = env.start(&["status", "--watch", "--json"]);
    assert_files(&session, "while it runs");
    assert_said(env, &session, "while it runs");
    assert_nobody("the run's output", &(run.stdout() + &run.stderr()), &["wombat"]);

    for model in CANCELLED {
        let (out, err) = finish(env, &["cancel", &session.id(), &session.id_of(model)], 0);
        assert_nobody("a cancel", &(out + &err), &[]);
    }
    std::fs::write(session.path(&format!("work/{}/seen", session.id_of(LAST))), "").unwrap();
    assert_eq!(run.wait().code(), Some(0), "{}", run.stderr());
    for watch in [&mut watch, &mut watch_json] {
        assert_eq!(watch.wait().code(), Some(0), "{}", watch.stderr());
        assert_nobody("the watch of the run", &(watch.stdout() + &watch.stderr()), &[]);
    }
    for seat in SEATS {
        assert_eq!(ending(&session, seat.model), seat.ending, "{}", seat.model);
    }
    assert_files(&session, "after the run");
    let (echidna, _) = finish(env, &["show", &session.id(), &session.id_of("echidna@monotreme-2")], 0);
    assert!(!echidna.contains(&world.address), "{echidna}");
    assert_said(env, &session, "after the run");

    judge(&world, &session, level);
}

/// Judges the finished run, and stops at a gate on the way.
#[track_caller]
fn judge(world: &World, session: &Session, level: Level) {
    let env = &world.env;
    let asked = world.server.requests().len();
    let judges = ["bandicoot", "numbat", "narwhal@dugong-7b", "narwhal@dugong-401", SPY];
    let mut judge = env.start(&["judge", "-v", "--json", &session.id(), "--judges", &judges.join(",")]);
    let round = session.round("judging");
    wait_until("the round", || round.has("status.json").then_some(()));
    let last = round.id_of("bandicoot");
    wait_until("a judge", || (round.slot(&last)["state"] == "RUNNING").then_some(()));
    assert_seen("during the judging", &look(&round), level);
    wait_until("the other judges", || {
        round.slots().iter().filter(|id| **id != last).all(|id| ended(&round, id)).then_some(())
    });
    let mut watch = env.start(&["status", "--watch"]);
    assert_files(session, "while it is judged");
    assert_said(env, session, "while it is judged");
    assert!(round.has(&format!("prompt-{last}.md")), "prompts are among the files");
    let sent = world.server.requests();
    assert!(sent.len() > asked, "a judge was asked by its provider");
    for request in &sent {
        let body = &request.body;
        let told = serde_json::json!([body["messages"], body["response_format"]]).to_string();
        assert_nobody("what a provider is told", &told, &[]);
    }
    wait_until("the watch", || watch.stdout().contains("judge").then_some(()));
    assert_nobody("the watch of the judging", &(watch.stdout() + &watch.stderr()), &[]);
    assert_nobody("the judging's output", &(judge.stdout() + &judge.stderr()), &[]);
    std::fs::write(round.path(&format!("work/{last}/seen")), "").unwrap();
    judge.wait();
    watch.wait();
    assert_nobody("the events of the judging", &judge.stdout(), &[]);

    // From here on everybody is named, where names belong.
    let verdict = session.text("verdict.md");
    for name in SEATS.iter().map(|seat| seat.model).chain(judges) {
        assert!(verdict.contains(name), "{name}: {verdict}");
    }
    let used = session.json("session-meta.json")["models_used"].to_string();
    assert!(SEATS.iter().all(|seat| used.contains(seat.model)), "{used}");
    let events = session.events().len();
    let (all, _) = finish(env, &["show", &session.id(), "--reveal"], 0);
    assert!(SEATS.iter().all(|seat| all.contains(seat.model)), "{all}");
    let record = session.events();
    assert_eq!((record.len(), record[events]["event"].as_str()), (events + 1, Some("revealed")));
    assert_consistent(session);
}

#[test]
fn a_slot_that_a_limit_ended_names_nobody_either() {
    let world = world("");
    let env = &world.env;
    let panel = "numbat-slow,numbat-slow,narwhal@dugong-7b";
    for (number, limit) in ["--timeout", "--idle-timeout", "--deadline"].into_iter().enumerate() {
        let name = format!("limit-{number}");
        let mut run = env.start(&["run", "-v", "--json", "--name", &name, limit, "1s", "-m", panel, "Which one?"]);
        run.wait();
        let session = env.sessions().into_iter().find(|session| session.id().contains(&name)).unwrap();
        assert!(ending(&session, "numbat-slow").starts_with("TIMEOUT"), "{}", session.text("status.json"));
        assert_nobody(limit, &(run.stdout() + &run.stderr()), &[]);
        assert_said(env, &session, limit);
        for file in session.files().iter().filter(|file| !file.ends_with("manifest.json")) {
            let own: &[&str] = if file.ends_with(".partial.md") { &["numbat"] } else { &[] };
            assert_nobody(file, &session.text(file), own);
        }
    }
}

#[test]
fn a_run_that_died_and_is_resumed_names_nobody_either() {
    let world = world("");
    let env = &world.env;
    let mut run = env.start(&["run", "-m", &format!("{LAST},numbat,narwhal@dugong-401"), "Which one?"]);
    let session = env.session_with("status.json");
    wait_until("a slot", || {
        let failed = ["numbat", "narwhal@dugong-401"].iter().all(|model| ended(&session, &session.id_of(model)));
        (failed && session.slot(&session.id_of(LAST))["state"] == "RUNNING").then_some(())
    });
    run.signal(Signal::SIGKILL);
    run.wait();
    env.wait_for_no_processes();
    assert_files(&session, "after a kill");
    assert_said(env, &session, "after a kill");
    let mut resumed = env.start(&["resume", "-v", "--failed", &session.id()]);
    let go = session.path(&format!("work/{}/seen", session.id_of(LAST)));
    wait_until("the end", || {
        // Whenever the folder is ready for another attempt.
        let _ = std::fs::write(&go, "");
        resumed.has_ended().then_some(())
    });
    assert_eq!(resumed.wait().code(), Some(0), "{}", resumed.stderr());
    assert_nobody("a resumed run", &(resumed.stdout() + &resumed.stderr()), &[]);
    assert_files(&session, "after a resumed run");
    assert_said(env, &session, "after a resumed run");
}

/// Where other processes stay in sight, `team` itself still names nobody: not in its files, and not in the environment,
/// the command line and the folders of a process that it started.
#[test]
fn with_less_isolation_nothing_of_teams_own_names_another_slot() {
    for (isolation, preference) in [("landlock", Preference::Landlock), ("none", Preference::None)] {
        let level = processes(preference);
        let world = world(isolation);
        let (mut run, session) = run_to_the_gate(&world, level);
        assert_files(&session, isolation);
        world.env.team(&["cancel", &session.id()]).output().unwrap();
        run.wait();
        assert_files(&session, isolation);
    }
}
