//! Plays `team` around one agent at a time, as a program that can be killed or looked at as a whole.
//!
//! `caller SCENARIO MECHANISM FOLDER SUPERVISOR`, where the agent runs in FOLDER:
//!
//! | Scenario | Does |
//! | --- | --- |
//! | `escapees` | runs the script `escapees.sh` of the folder and stays as long as it does |
//! | `code` | runs an agent that exits with 23 and writes the outcome to `code` |
//! | `probe` | writes the self-test's result to `probe` |
//! | `talk` | asks `claude` twice in one conversation and writes to `talk` what came of it; goes on where it was killed |
//! | `tidy` | runs several agents and writes to `tidy` what is left of them |

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "a program of tests")]

#[path = "caller_talk.rs"]
mod caller_talk;
#[path = "talking.rs"]
mod talking;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fs_err as fs;
use team::isolation::{Mechanism, Preference, probe};
use team::runner::process::{ProcessSink, ProcessSpec, control, run};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

struct Nothing;

impl ProcessSink for Nothing {
    fn stdout(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn stderr(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn answer_complete(&self) -> bool {
        false
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < limit, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn parent(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
    parent.unwrap_or(0)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scenario, mechanism, folder, supervisor] = &arguments[..] else { panic!("four arguments: {arguments:?}") };
    let (folder, supervisor) = (PathBuf::from(folder), PathBuf::from(supervisor));
    let mechanism = [
        Mechanism::Namespaces { user: false },
        Mechanism::Namespaces { user: true },
        Mechanism::Landlock,
        Mechanism::TreeWalk,
    ]
    .into_iter()
    .find(|known| known.to_string() == *mechanism)
    .unwrap();
    let shell = |script: &str| {
        let argv = ["sh", "-c", script].map(OsString::from).to_vec();
        let mut spec = ProcessSpec::new(argv, folder.clone(), mechanism);
        spec.environment =
            vec![("PATH".into(), std::env::var_os("PATH").unwrap()), ("PLACE".into(), folder.clone().into())];
        spec.supervisor = Some(supervisor.clone());
        spec
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let go = |spec: ProcessSpec| {
        // On a worker thread, as the runner does it.
        let task = runtime.spawn(async move { run(&spec, &mut Nothing, control().1).await });
        runtime.block_on(task).unwrap()
    };
    match scenario.as_str() {
        "escapees" => {
            let _ = go(shell("trap '' TERM; . ./escapees.sh; sleep 1000"));
        }
        "code" => fs::write(folder.join("code"), format!("{:?}", go(shell("exit 23")).outcome)).unwrap(),
        "probe" => {
            let found = probe(Preference::Strongest, Some(&supervisor));
            fs::write(folder.join("probe"), serde_json::to_string(&found).unwrap()).unwrap();
        }
        "talk" => caller_talk::talk(&runtime, &folder, mechanism, &supervisor),
        "tidy" => {
            let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
            // What the runtime itself opens on first use.
            let _ = go(shell("exit 0"));
            let before = descriptors();
            let spec = shell(": > started; until [ -e go ]; do sleep 0.01; done");
            let task = runtime.spawn(async move { run(&spec, &mut Nothing, control().1).await });
            wait_until("the agent", || folder.join("started").exists());
            let most = descriptors() - before;
            fs::write(folder.join("go"), "").unwrap();
            assert_eq!(runtime.block_on(task).unwrap().exit_code(), Some(0));
            for _ in 0..5 {
                let _ = go(shell("setsid sleep 1000 > /dev/null 2>&1 & exit 0"));
                let _ = go(shell("exec /nonexistent"));
            }
            let own = i32::try_from(std::process::id()).unwrap();
            let children = fs::read_dir("/proc")
                .unwrap()
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
                .filter(|pid| parent(*pid) == own)
                .count();
            let text = format!("children {children}, descriptors +{}, most +{most}", descriptors() - before);
            fs::write(folder.join("tidy"), text).unwrap();
        }
        other => panic!("unknown scenario `{other}`"),
    }
}
