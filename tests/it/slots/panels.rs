//! Panels of every size, and what their folder shows meanwhile.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{reason, run};
use crate::support::{Background, Session, TeamToml, TestEnv, wait_until};

fn panel_of(count: usize, name: &str) -> String {
    vec![name; count].join(",")
}

#[track_caller]
fn assert_all_completed(session: &Session, count: usize, answer: &str) {
    let slots = session.slots();
    assert_eq!(slots.len(), count);
    for id in slots {
        assert_eq!(session.slot(&id)["state"], "COMPLETED", "{id}: {}", session.slot(&id));
        assert_eq!(session.text(&format!("response-{id}.md")), answer);
    }
}

#[test]
fn sixty_four_slots_complete_under_a_limit_of_256_descriptors() {
    let env = TestEnv::with(&TeamToml::new().agent("a", &["swallow", "sleep 50", "print fine"]));
    let models = panel_of(64, "a");
    let output = env.team_with_descriptors(256, &["run", "-m", &models, "two words"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_all_completed(&env.session(), 64, "fine\n");
}

#[test]
fn jobs_bounds_how_many_run_at_once() {
    let env = TestEnv::new();
    let gate = format!("wait-for {}", env.path("go").display());
    let config = (0..6).fold(TeamToml::new(), |config, number| {
        let started = format!("touch {}", env.path(&format!("started-{number}")).display());
        config.agent(&format!("m{number}"), &[&started, &gate, "print fine"])
    });
    env.write("team.toml", config.text());
    let mut team = env.start(&["run", "--jobs", "2", "-m", "m0,m1,m2,m3,m4,m5", "two words"]);
    let session = env.session_with("status.json");
    let started = || (0..6).filter(|number| env.path(&format!("started-{number}")).exists()).count();
    wait_until("two at work", || (started() == 2).then_some(()));
    wait_until("a second with two at work", || (session.slot("01")["idleSeconds"].as_u64()? >= 1).then_some(()));
    assert_eq!(started(), 2);
    let states: Vec<Value> = session.slots().iter().map(|id| session.slot(id)["state"].clone()).collect();
    assert_eq!(states, ["RUNNING", "RUNNING", "PENDING", "PENDING", "PENDING", "PENDING"]);
    env.write("go", "");
    assert!(team.wait().success(), "{}", team.stderr());
    assert_all_completed(&session, 6, "fine\n");
    let (mut now, mut most) = (0_i32, 0);
    for event in session.events() {
        match event["event"].as_str() {
            Some("slot_started") => now += 1,
            Some("slot_ended") => now -= 1,
            _ => {}
        }
        most = most.max(now);
    }
    assert_eq!((now, most), (0, 2));
}

#[test]
fn one_model_twice_is_two_slots() {
    let env = TestEnv::with(&TeamToml::new().agent("a", &["cwd"]));
    let (code, _, session) = run(&env, &["-m", "a,a", "two words"]);
    assert_eq!(code, Some(0));
    let manifest = session.json("manifest.json");
    assert_eq!((&manifest["models"]["01"]["model"], &manifest["models"]["02"]["model"]), (&"a".into(), &"a".into()));
    assert_ne!(session.text("response-01.md"), session.text("response-02.md"), "each has a folder of its own");
}

#[test]
fn ids_sort_as_numbers_in_panels_of_12_and_of_120() {
    for (count, width) in [(12, 2), (120, 3)] {
        let env = TestEnv::with(&TeamToml::new().agent("a", &["print fine"]));
        let (code, output, session) = run(&env, &["-m", &panel_of(count, "a"), "two words"]);
        assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let ids: Vec<String> = (1..=count).map(|number| format!("{number:0width$}")).collect();
        assert_eq!(session.slots(), ids);
        assert_all_completed(&session, count, "fine\n");
        let manifest = session.json("manifest.json");
        let mut order: Vec<&str> =
            manifest["shuffleOrder"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_ne!(order, ids, "the order says who is who");
        order.sort_unstable();
        assert_eq!(order, ids);
        // Each start has exactly one end.
        let mut ends: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        for event in session.events() {
            let Some(id) = event["slot"].as_str() else { continue };
            let counts = ends.entry(id.to_owned()).or_default();
            match event["event"].as_str() {
                Some("slot_started") => counts.0 += 1,
                Some("slot_ended") => counts.1 += 1,
                _ => {}
            }
        }
        assert_eq!(ends.len(), count);
        assert!(ends.values().all(|counts| *counts == (1, 1)), "{ends:?}");
    }
}

#[test]
fn one_slot_is_a_panel_and_standard_output_is_only_its_folder() {
    let env = TestEnv::with(&TeamToml::new().agent("a", &["print fine"]));
    let (code, output, session) = run(&env, &["-q", "-m", "a", "two words"]);
    assert_eq!((code, output.stderr.len()), (Some(0), 0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), session.dir().display().to_string());
    assert_all_completed(&session, 1, "fine\n");
}

#[test]
fn a_failing_slot_fails_the_run_only_with_strict() {
    let config = TeamToml::new().agent("good", &["print fine"]).agent("bad", &["exit 1"]);
    for (options, expected) in [(&[][..], 0), (&["--strict"], 4)] {
        let env = TestEnv::with(&config);
        let (code, _, session) = run(&env, &[&["-m", "good,bad,good", "two words"], options].concat());
        assert_eq!(code, Some(expected), "{options:?}");
        assert_eq!(reason(&session, &session.id_of("bad")), "FAILED/nonzero_exit");
        assert_eq!(session.slot(&session.id_of("good"))["state"], "COMPLETED");
        assert_eq!(session.json("session-meta.json")["status"], "completed");
    }
    let env = TestEnv::with(&config);
    let (code, output, session) = run(&env, &["-m", "bad,bad", "two words"]);
    assert_eq!(code, Some(4));
    assert_eq!(session.json("session-meta.json")["status"], "failed");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing usable: 0 of 2 slots completed"));
}

/// Reads `status.json` as fast as it can until the program ends; gives how often.
fn watch(session: &Session, team: &mut Background) -> usize {
    const LIVE: [&str; 3] = ["activity", "liveBytes", "idleSeconds"];
    let mut reads = 0;
    let mut ended: BTreeMap<String, Value> = BTreeMap::new();
    loop {
        let over = team.has_ended();
        // Panics where the text is torn.
        let status = session.json("status.json");
        for (id, slot) in status["models"].as_object().unwrap() {
            let running = slot["state"] == "RUNNING";
            for field in LIVE {
                assert!(running || slot.get(field).is_none(), "`{field}` in {slot}");
            }
            let terminal = !matches!(slot["state"].as_str().unwrap(), "RUNNING" | "PENDING");
            if let Some(before) = ended.get(id) {
                assert_eq!(slot, before, "an end is an end");
            } else if terminal {
                ended.insert(id.clone(), slot.clone());
            }
            assert!(terminal || slot["outputSize"].is_null(), "unknown is null: {slot}");
        }
        reads += 1;
        if over {
            return reads;
        }
    }
}

#[test]
fn a_status_that_is_read_while_it_is_written_is_whole_and_true() {
    let talk = ["sleep 20", "write a\\n", "sleep 30", "print b"].repeat(8);
    let config = TeamToml::new().agent("a", &talk).agent("b", &["sleep 300", "exit 1"]).agent("c", &["print fine"]);
    let env = TestEnv::with(&config);
    let models = panel_of(10, "a,b,c");
    let mut team = env.start(&["run", "--jobs", "12", "-m", &models, "two words"]);
    let session = env.session_with("status.json");
    let reads = watch(&session, &mut team);
    assert!(team.wait().success(), "{}", team.stderr());
    assert!(reads > 200, "{reads}");
    let states = session.slots().into_iter().map(|id| session.slot(&id)["state"].as_str().unwrap().to_owned());
    assert_eq!(states.filter(|state| state == "COMPLETED").count(), 20);
}
