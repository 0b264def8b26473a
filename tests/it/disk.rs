//! A disk that is full, a folder that may not be written any more or is gone: an error of the slot that needed it, told
//! with path and next step, while the others finish; and nothing is claimed that is not on disk.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::support::{Background, Session, TeamToml, TestEnv, wait_until};

/// `early` answers at once, `late` when `go` exists.
fn early_and_late() -> TestEnv {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    let config = TeamToml::new().agent("early", &["print early"]).agent("late", &["print la", &go, "print te"]);
    env.write("team.toml", config.text());
    env
}

/// Waits until `early` is complete and `late` at work.
fn half_done(env: &TestEnv) -> Session {
    let session = env.session_with("status.json");
    let (early, late) = (session.id_of("early"), session.id_of("late"));
    wait_until("the early answer", || (session.slot(&early)["state"] == "COMPLETED").then_some(()));
    wait_until("the late one's beginning", || (session.slot(&late)["liveBytes"].as_u64() > Some(0)).then_some(()));
    session
}

fn wait_in_stderr(team: &Background, words: &str) {
    wait_until(words, || team.stderr().contains(words).then_some(()));
}

fn reason(session: &Session, model: &str) -> (Value, Value) {
    let entry = session.slot(&session.id_of(model));
    (entry["state"].clone(), entry["error"]["reason"].clone())
}

#[test]
fn an_answer_over_the_limit_of_a_files_size_is_an_error_of_its_slot() {
    let config = TeamToml::new().agent("flood", &["bytes 3000000"]).agent("quick", &["print fits"]);
    let env = TestEnv::with(&config);
    let mut team = env.start_under(&["prlimit", "--fsize=200000", "--"], &["run", "-m", "flood,quick", "how much?"]);
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    let session = env.session();
    let flood = session.id_of("flood");
    assert_eq!(reason(&session, "flood"), (json!("FAILED"), json!("io_error")));
    let error = session.slot(&flood)["error"].clone();
    assert!(error["detail"].as_str().unwrap().contains(&format!(".response-{flood}.md.part")), "{error}");
    assert!(error["nextStep"].as_str().unwrap().len() > 10, "{error}");
    assert!(!session.has(&format!("response-{flood}.md")));
    assert!(session.has(&format!("errors/{flood}.partial.md")), "what there was is kept");
    assert_eq!(session.text(&format!("response-{}.md", session.id_of("quick"))), "fits\n");
    assert!(team.stderr().contains(&format!("{flood} FAILED")), "{}", team.stderr());
}

/// Runs the program with `options` of a small file system over its sessions; what is in it afterwards is copied to
/// `kept`. `None` where no mount can be made.
fn on_small_disk(env: &TestEnv, options: &str, arguments: &[&str]) -> Option<Background> {
    let works = |unshare: &[&str]| {
        let mounts = ["sh", "-c", "mount -t tmpfs tmpfs /mnt"];
        Command::new("unshare").args(unshare).args(mounts).output().is_ok_and(|output| output.status.success())
    };
    let unshare = [&["-m"][..], &["-m", "-r"]].into_iter().find(|unshare| works(unshare))?;
    let base = env.path("ai-docs/sessions").display().to_string();
    std::fs::create_dir_all(&base).unwrap();
    let kept = env.path("kept").display().to_string();
    let script = format!(
        "mount -t tmpfs -o {options} tmpfs '{base}' || exit 99; \"$@\"; code=$?; cp -a '{base}' '{kept}'; exit $code"
    );
    let wrapper: Vec<&str> =
        std::iter::once("unshare").chain(unshare.iter().copied()).chain(["sh", "-c", &script, "sh"]).collect();
    Some(env.start_under(&wrapper, arguments))
}

#[test]
fn a_slot_that_fills_the_disk_fails_and_leaves_room_for_the_others() {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    let config = TeamToml::new().agent("flood", &["bytes 3000000"]).agent("late", &[&go, "print fits"]);
    env.write("team.toml", config.text());
    let arguments = ["run", "-m", "flood,late", "how much?"];
    // Without mounts a limit of each file's size is the nearest thing.
    let (mut team, small_disk) = match on_small_disk(&env, "size=512k", &arguments) {
        Some(team) => (team, true),
        None => (env.start_under(&["prlimit", "--fsize=200000", "--"], &arguments), false),
    };
    wait_in_stderr(&team, "io_error");
    env.write("go", "");
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    let session = match small_disk {
        true => kept(&env),
        false => env.session(),
    };
    assert_eq!(reason(&session, "flood"), (json!("FAILED"), json!("io_error")));
    assert_eq!(session.text(&format!("response-{}.md", session.id_of("late"))), "fits\n");
    assert_eq!(session.json("session-meta.json")["status"], "completed");
    assert_eq!(session.events().pop().unwrap()["event"], "closed");
    if small_disk {
        let flood = session.id_of("flood");
        assert!(!session.has(&format!("errors/{flood}.partial.md")), "the record needs the room");
        let detail = session.slot(&flood)["error"]["detail"].clone();
        assert!(detail.as_str().unwrap().contains("was removed to make room"), "{detail}");
    }
}

fn kept(env: &TestEnv) -> Session {
    let mut entries = std::fs::read_dir(env.path("kept")).unwrap();
    let session = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    Session::at(session)
}

#[test]
fn a_disk_without_room_for_a_session_gives_a_temporary_one() {
    let env = early_and_late();
    let arguments = ["run", "-m", "early", "how much?"];
    let mut team = on_small_disk(&env, "nr_inodes=4", &arguments).unwrap_or_else(|| {
        env.write("ai-docs/sessions", "no folder");
        env.start(&arguments)
    });
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    let told = team.stderr();
    assert!(told.contains("warning: the session is kept in a temporary folder"), "{told}");
    let session = Session::at(team.stdout().trim_end());
    assert!(told.contains(&format!("to keep it, move `{}`", session.dir().display())), "{told}");
    assert_eq!(session.text("response-01.md"), "early\n");
    let left = std::fs::read_dir(env.path("kept")).into_iter().flatten().count();
    assert_eq!(left, 0, "no half of a session stays behind");
}

#[test]
fn a_folder_made_read_only_under_a_run_is_an_error_of_what_still_needed_it() {
    let env = early_and_late();
    let wrapper = env.of_ordinary_user();
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let mut team = env.start_under(&wrapper, &["run", "-m", "early,late", "which?"]);
    let session = half_done(&env);
    let mode = |mode| std::fs::set_permissions(session.dir(), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o555);
    env.write("go", "");
    let code = team.wait().code();
    mode(0o755);
    let told = team.stderr();
    assert_eq!(code, Some(70), "the folder does not show how it ended: {told}");
    let late = session.id_of("late");
    assert!(told.contains(&format!("{late} FAILED")) && told.contains("io_error"), "{told}");
    assert!(!session.has(&format!("response-{late}.md")));
    assert_eq!(session.text(&format!("response-{}.md", session.id_of("early"))), "early\n");
    let warnings = told.matches("warning: ").count();
    assert_eq!(warnings, 1, "told once, and at once: {told}");
    let folder = session.dir().canonicalize().unwrap().display().to_string();
    assert!(told.contains(&format!("error: cannot create a file in `{folder}`")), "{told}");
    assert!(told.contains(&format!("hint: what is complete is kept in `{folder}`")), "{told}");
    // The record was open and took everything; it is what is shown.
    let shown = env.team(&["status", "latest", "--json"]).output().unwrap().stdout;
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!(shown["status"]["models"][&late]["error"]["reason"], "io_error");
    assert_eq!(shown["status"]["state"], "completed");
}

/// Takes a folder away in one step: removing it bit by bit would race with what is still written into it.
fn take_away(env: &TestEnv, folder: &Path) {
    let away = env.path("away");
    std::fs::rename(folder, &away).unwrap();
    std::fs::remove_dir_all(away).unwrap();
}

#[test]
fn a_folder_deleted_under_a_run_is_no_success() {
    let env = early_and_late();
    let mut team = env.start(&["run-and-judge", "-m", "early,late", "which?"]);
    let session = half_done(&env);
    let late = session.id_of("late");
    take_away(&env, session.dir());
    env.write("go", "");
    assert_eq!(team.wait().code(), Some(70));
    let told = team.stderr();
    assert!(told.contains(&format!("{late} FAILED")) && told.contains("io_error"), "{told}");
    assert!(told.contains("hint: nothing of it is kept; run it again"), "{told}");
    assert!(told.contains(&session.id()), "{told}");
    assert!(!told.contains("is kept in"), "{told}");
    assert_eq!(team.stdout(), "", "no folder is claimed");
    assert!(env.sessions().is_empty(), "it is not made again: {:?}", env.sessions());
}

#[test]
fn a_signal_weighs_more_than_a_deleted_folder_and_both_are_told() {
    let env = early_and_late();
    let mut team = env.start(&["run", "-m", "early,late", "which?"]);
    let session = half_done(&env);
    take_away(&env, session.dir());
    team.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130));
    let told = team.stderr();
    assert!(told.contains("stopping (interrupt)") && told.contains("hint: nothing of it is kept"), "{told}");
    env.wait_for_no_processes();
}

#[test]
fn a_folder_deleted_while_judges_run_gives_no_verdict() {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    let begun = format!("touch {}", env.path("begun").display());
    let config = TeamToml::new()
        .agent("one", &["answer yes", "vote approve"])
        .agent("two", &["answer no", "vote approve"])
        .agent("judge", &[&begun, &go, "vote approve"]);
    env.write("team.toml", config.text());
    let mut team = env.start(&["run-and-judge", "-m", "one,two", "--judges", "judge,judge", "which?"]);
    wait_until("the judges", || env.path("begun").exists().then_some(()));
    take_away(&env, env.session().dir());
    env.write("go", "");
    assert_eq!(team.wait().code(), Some(70), "{}", team.stderr());
    assert_eq!(team.stdout(), "");
    assert!(env.sessions().is_empty());
}
