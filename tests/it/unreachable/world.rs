//! A thief and a victim in one panel.

use std::path::Path;

use team::isolation::{Fact, Level, Mechanism, Preference, probe};
use toml::Value;

use super::escapes::{ABSTRACT_SOCKET, ESCAPES, RUIN};
use crate::support::{Session, TeamToml, TestEnv, assert_consistent, wait_until};

/// Every word that the thief must not print: names of the panel, and what the victim has.
const SECRETS: [&str; 5] = ["NARWHAL", "quokka", "wombat", "shuffleOrder", "phase_started"];

/// Does what programs do that do not think of others, and waits.
const VICTIM: &str = r#"
    echo NARWHAL-WORK > secret
    exec 9<> held; echo NARWHAL-HELD >&9; rm held
    for d in /tmp /var/tmp /dev/shm "${TMPDIR:-/tmp}"; do echo NARWHAL-TMP > "$d/narwhal-$TAG"; done
    trap 'rm -f /tmp/narwhal-$TAG /var/tmp/narwhal-$TAG /dev/shm/narwhal-$TAG "${TMPDIR:-/tmp}/narwhal-$TAG"' EXIT
    perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack("S a*", AF_UNIX, "\0narwhal-$ENV{TAG}"));
        listen($s, 9); open(my $r, ">", "ready"); close $r; while (accept(my $c, $s)) { syswrite($c, "NARWHAL-SOCKET\n") }' > /dev/null 2>&1 &
    until [ -e go ]; do sleep 0.02; done
    echo done
"#;

/// As which user `team` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    Caller,
    Ordinary,
}

/// What the thief printed for each way, and the session.
struct Loot {
    rows: Vec<(String, String)>,
    session: Session,
    /// What the session lies in.
    _env: TestEnv,
}

impl Loot {
    fn of(&self, name: &str) -> &str {
        &self.rows.iter().find(|(row, _)| row == name).unwrap_or_else(|| panic!("`{name}` was not tried")).1
    }
}

fn shell(script: &Path, arguments: &[&str]) -> Value {
    let script = script.display().to_string();
    let words = ["sh", script.as_str()].into_iter().chain(arguments.iter().copied());
    Value::Array(words.map(Value::from).collect())
}

/// Runs the list. `ruin` adds what would ruin the session if it worked.
fn steal(isolation: Option<&str>, user: User, ruin: bool) -> Loot {
    let mut env = TestEnv::new();
    if let Some(isolation) = isolation {
        env = env.set("TEAM_ISOLATION", isolation);
    }
    let rows = ESCAPES.iter().map(|escape| (escape.name, escape.script));
    let rows: Vec<_> = rows.chain(RUIN.iter().copied().filter(|_| ruin)).collect();
    let mut script = String::from(
        "until [ -e go ]; do sleep 0.02; done\nexport S=\"${PWD%/work/*}\" V=victim.sh W=$1\nexport B=\"${S%/*}\"\n",
    );
    for (name, piece) in &rows {
        // Of what it finds only the words that matter: other processes of the machine are none of this test's business.
        script.push_str(&format!("printf '\\n%s\\n' \"== {name}\"\n(\n{piece}\n) 2>/dev/null | grep -aoE -f \"$W\"\n"));
    }
    let victim = env.write("victim.sh", VICTIM);
    // In a file, so that they are on no command line.
    let words = env.write("words", "NARWHAL-[A-Z]+\nquokka\nwombat\nshuffleOrder\nphase_started\n");
    // A name in `/tmp` that no other test has.
    let tag = env.project().parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    // The last way that fails is no failure of the list.
    let script = script.replace("$TAG", &tag) + ": > tried\nexit 0\n";
    let thief = env.write("escape.sh", script);
    let variables = [("SECRET", "NARWHAL-ENV"), ("TAG", tag.as_str())];
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
    let config = TeamToml::new()
        .model("thief", &[("command", shell(&thief, &[&words.display().to_string()]))])
        .model(
            "quokka",
            &[("command", shell(&victim, &["NARWHAL-ARGUMENT"])), ("env", Value::Table(variables.collect()))],
        )
        .agent("wombat", &["swallow", "print NARWHAL-ANSWER"]);
    env.write("team.toml", config.text());

    let wrapper = if user == User::Ordinary { env.of_ordinary_user() } else { Vec::new() };
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let mut team =
        env.start_under(&wrapper, &["run", "-m", "thief,quokka,wombat", "--timeout", "50s", "What is there?"]);
    let session = env.session_with("manifest.json");
    wait_until("the record", || (session.has("events.jsonl") && session.has("status.json")).then_some(()));
    let work = |model: &str, file: &str| session.path(&format!("work/{}/{file}", session.id_of(model)));
    wait_until("the victim", || work("quokka", "ready").exists().then_some(()));
    let wombat = session.id_of("wombat");
    wait_until("an answer", || (session.slot(&wombat)["state"] == "COMPLETED").then_some(()));
    std::fs::write(work("thief", "go"), "").unwrap();
    wait_until("the list's end", || work("thief", "tried").exists().then_some(()));
    let id = session.id_of("thief");
    wait_until("the thief", || {
        let state = session.slot(&id)["state"].clone();
        (state != "RUNNING" && state != "PENDING").then_some(())
    });
    std::fs::write(work("quokka", "go"), "").unwrap();
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    assert_eq!(session.slot(&id)["state"], "COMPLETED", "{}", session.slot(&id));

    let text = session.text(&format!("response-{id}.md"));
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("== ").filter(|name| rows.iter().any(|(row, _)| row == name)) {
            Some(name) => found.push((name.to_owned(), String::new())),
            None => {
                if let Some((_, loot)) = found.last_mut() {
                    loot.push_str(line);
                    loot.push('\n');
                }
            }
        }
    }
    let names = |rows: &mut dyn Iterator<Item = &str>| rows.map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        names(&mut found.iter().map(|(name, _)| name.as_str())),
        names(&mut rows.iter().map(|(name, _)| *name)),
        "every way was tried, in order"
    );
    Loot { rows: found, session, _env: env }
}

fn secret_in(text: &str) -> Option<&'static str> {
    SECRETS.into_iter().find(|secret| text.contains(secret))
}

/// The strongest mechanism that works for this user here, by the same self-test as the program's.
fn best() -> Mechanism {
    probe(Preference::Strongest, Some(Path::new(env!("CARGO_BIN_EXE_team")))).mechanism
}

#[track_caller]
fn assert_held(loot: &Loot, level: Level, who: &str) {
    // Where the kernel cannot keep abstract sockets apart, the self-test says so.
    let scoped = probe(Preference::Strongest, Some(Path::new(env!("CARGO_BIN_EXE_team"))))
        .attempts
        .last()
        .and_then(|attempt| attempt.facts)
        .is_some_and(|facts| facts.abstract_sockets == Fact::Kept);
    for escape in ESCAPES.iter().filter(|escape| escape.stopped_by <= level) {
        if escape.name == ABSTRACT_SOCKET && !scoped {
            continue;
        }
        let text = loot.of(escape.name);
        if let Some(secret) = secret_in(text) {
            panic!("{who}: {} led to `{secret}`:\n{text}", escape.name);
        }
    }
    for (name, _) in RUIN {
        assert_eq!(secret_in(loot.of(name)), None, "{who}: {name}");
    }
    assert_consistent(&loot.session);
    let session = &loot.session;
    let planted = [format!("work/{}/planted", session.id_of("quokka")), "response-99.md".to_owned()];
    assert!(!planted.iter().any(|file| session.has(file)), "{who}: {:?}", session.files());
    assert_eq!(loot.session.text("input.md"), "What is there?", "{who}");
    let record = loot.session.text("events.jsonl");
    assert!(record.contains(&format!("session files: {level}")), "{who}: {record}");
}

#[test]
fn nothing_is_reached_from_a_slot() {
    let level = best().files();
    assert!(level > Level::Convention, "neither namespaces nor Landlock work here: nothing can be tested");
    let loot = steal(None, User::Caller, true);
    assert_held(&loot, level, "as the caller");
}

#[test]
fn nothing_is_reached_from_a_slot_of_an_ordinary_user() {
    // Where the tests run as one, this is the same again.
    let loot = steal(None, User::Ordinary, true);
    let record = loot.session.text("events.jsonl");
    let level = [Level::Enforced, Level::Partial]
        .into_iter()
        .find(|level| record.contains(&format!("session files: {level}")))
        .unwrap_or(Level::Convention);
    assert_held(&loot, level, "as an ordinary user");
}

#[test]
fn no_contents_are_reached_under_landlock() {
    let found = probe(Preference::Landlock, Some(Path::new(env!("CARGO_BIN_EXE_team"))));
    assert_eq!(found.mechanism, Mechanism::Landlock, "Landlock does not work here: {found:?}");
    for user in [User::Caller, User::Ordinary] {
        let loot = steal(Some("landlock"), user, true);
        assert_held(&loot, Level::Partial, &format!("{user:?}, Landlock"));
    }
}

#[test]
fn without_isolation_the_ways_lead_out_and_the_record_says_so() {
    let loot = steal(Some("none"), User::Caller, false);
    for escape in ESCAPES.iter().filter(|escape| escape.works) {
        let text = loot.of(escape.name);
        assert!(secret_in(text).is_some(), "{} is no way out at all: {text}", escape.name);
    }
    assert!(loot.session.text("events.jsonl").contains("session files: convention"));
}

#[test]
fn the_self_test_tells_files_processes_signals_and_sockets_apart() {
    let supervisor = Path::new(env!("CARGO_BIN_EXE_team"));
    let open = probe(Preference::None, Some(supervisor));
    let facts = open.attempts.last().unwrap().facts.unwrap();
    let all = [facts.session_files, facts.process_view, facts.kill, facts.abstract_sockets];
    assert_eq!(all, [Fact::Open; 4], "nothing is kept by convention");
    let best = probe(Preference::Strongest, Some(supervisor));
    let facts = best.attempts.last().unwrap().facts.unwrap();
    if best.mechanism.files() == Level::Enforced {
        assert_eq!([facts.session_files, facts.process_view, facts.kill], [Fact::Kept; 3]);
    }
    let rules = probe(Preference::Landlock, Some(supervisor));
    if rules.mechanism == Mechanism::Landlock {
        let facts = rules.attempts.last().unwrap().facts.unwrap();
        assert_eq!((facts.session_files, facts.process_view), (Fact::Kept, Fact::Open));
    }
}
