//! A panel of the real claude and codex in each situation that a provider can put them in.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::provider::ScriptedProvider;
use crate::support::{Session, TeamToml, TestEnv, wait_until};
use crate::tools::path_with_agents;

/// What the scripted provider answers.
const PLAIN: &str = "Hello from the fake provider: the answer is 42.";

/// A key that no test may find in any file.
const KEY: &str = "sk-scripted-0123456789abcdef";

/// How a slot is expected to end.
#[derive(Debug, Clone, Copy)]
enum End {
    Answer(&'static [&'static str]),
    Reason(&'static str, &'static str),
}

pub(crate) struct World {
    pub(crate) env: TestEnv,
    pub(crate) provider: ScriptedProvider,
}

/// A project with `claude-S`, `codex-S` for the scenario and two judges that approve everything.
pub(crate) fn world(scenario: &str) -> World {
    let provider = ScriptedProvider::start();
    let mut config = TeamToml::new();
    let env = TestEnv::new().set("PATH", &path_with_agents()).set("SCRIPTED_KEY", KEY);
    for (seat, scenario) in [("answer", scenario), ("vote", "vote")] {
        let url = provider.scenario(scenario);
        let variables = |pairs: &[(&str, &str)]| {
            toml::Value::Table(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect())
        };
        let claude = variables(&[
            ("ANTHROPIC_BASE_URL", &url),
            ("ANTHROPIC_API_KEY", "${SCRIPTED_KEY}"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ]);
        config = config.model(&format!("claude-{seat}"), &[("use", "claude".into()), ("env", claude)]);

        let home = format!("codex-{seat}");
        env.write(
            &format!("{home}/config.toml"),
            format!(
                "model = \"scripted\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
                 base_url = \"{url}/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n\
                 request_max_retries = 1\nstream_max_retries = 1\n"
            ),
        );
        let home = env.path(&home);
        let codex = variables(&[("CODEX_HOME", home.to_str().unwrap()), ("SCRIPTED_KEY", "${SCRIPTED_KEY}")]);
        config = config.model(&format!("codex-{seat}"), &[("use", "codex".into()), ("env", codex)]);
    }
    env.write("team.toml", config.text());
    World { env, provider }
}

impl World {
    /// A seat of `claude` may only read; a user's own command may run what it likes.
    pub(crate) fn let_claude_run_commands(&self) {
        let mut config: toml::Table = std::fs::read_to_string(self.env.path("team.toml")).unwrap().parse().unwrap();
        let claude = config["models"]["claude-answer"].as_table_mut().unwrap();
        claude.remove("use");
        let command = ["claude", "-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"];
        claude.insert("command".to_owned(), command.to_vec().into());
        claude.insert("output".to_owned(), "claude-stream-json".into());
        self.env.write("team.toml", config.to_string());
    }

    /// Runs the panel, and checks how each slot ended and what must hold in any case.
    #[track_caller]
    fn run(&self, code: i32, claude: End, codex: End) -> Session {
        let output = self
            .env
            .team(&[
                "run-and-judge",
                "-m",
                "claude-answer,codex-answer",
                "--judges",
                "claude-vote,codex-vote",
                "--self-vote",
                "include",
                "What is the answer?",
            ])
            .output()
            .unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "stdout:\n{stdout}\nstderr:\n{stderr}");
        let session = self.env.session();
        check(&session, "claude-answer", claude);
        check(&session, "codex-answer", codex);
        for file in session.files() {
            let bytes = std::fs::read(session.path(&file)).unwrap();
            assert!(memchr::memmem::find(&bytes, KEY.as_bytes()).is_none(), "`{file}` holds the key");
        }
        assert!(!stderr.contains(KEY) && !stdout.contains(KEY));
        session
    }
}

#[track_caller]
fn check(session: &Session, model: &str, end: End) {
    let id = session.id_of(model);
    let slot = session.slot(&id);
    let answer = format!("response-{id}.md");
    match end {
        End::Answer(pieces) => {
            assert_eq!(slot["state"], "COMPLETED", "{model}: {slot}");
            assert_eq!(slot["error"], Value::Null, "{model}");
            let text = session.text(&answer);
            assert_eq!(slot["outputSize"], text.len(), "{model}");
            let mut rest = text.as_str();
            for piece in pieces {
                let at = rest.find(piece).unwrap_or_else(|| panic!("{model}: no `{piece}` in `{text}`"));
                rest = &rest[at + piece.len()..];
            }
        }
        End::Reason(state, reason) => {
            assert_eq!((&slot["state"], &slot["error"]["reason"]), (&state.into(), &reason.into()), "{model}: {slot}");
            assert!(!session.has(&answer), "{model}: a slot that failed has no answer");
            assert!(session.has(&format!("errors/{id}.log")), "{model}");
            assert!(slot["error"]["nextStep"].as_str().is_some_and(|step| !step.is_empty()), "{model}: {slot}");
        }
    }
}

const PLAINLY: End = End::Answer(&[PLAIN]);

#[test]
fn a_plain_answer_of_both_is_judged_and_approved() {
    let world = world("plain");
    let session = world.run(0, PLAINLY, PLAINLY);
    let verdict = session.text("verdict.md");
    assert!(verdict.contains("claude-answer") && verdict.contains("codex-answer"), "{verdict}");
    assert!(session.round("judging").has("votes.json"));
}

#[test]
fn text_before_and_after_a_tool_call_is_the_answer() {
    let both = End::Answer(&["I will run a command.", "After the tool: done."]);
    world("tool").run(0, both, both);
}

#[test]
fn a_refused_key_is_auth() {
    let auth = End::Reason("FAILED", "auth");
    world("401").run(4, auth, auth);
}

#[test]
fn too_many_requests_is_rate_limited() {
    let limited = End::Reason("FAILED", "rate_limited");
    world("429").run(4, limited, limited);
}

#[test]
fn a_broken_server_is_an_api_error() {
    let broken = End::Reason("FAILED", "api_error");
    world("500").run(4, broken, broken);
}

#[test]
fn a_cut_stream_is_asked_again_by_claude_and_given_up_by_codex() {
    // One answer alone is not ranked.
    world("truncated").run(3, PLAINLY, End::Reason("FAILED", "network"));
}

#[test]
fn nothing_said_is_empty_in_spite_of_exit_0() {
    let empty = End::Reason("EMPTY", "empty_output");
    world("empty").run(4, empty, empty);
}

#[test]
fn a_stream_that_is_always_cut_is_a_network_failure_of_both() {
    let cut = End::Reason("FAILED", "network");
    world("truncall").run(4, cut, cut);
}

/// How a run is ended from outside.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Signal(Signal, i32),
    Cancel,
    Kill,
}

/// Each agent runs a command that sleeps for minutes; then the run is stopped, and nothing of it may be left.
#[track_caller]
fn stopped_in_a_tool(stop: Stop) {
    // One at a time: codex stops waiting for a command after ten seconds.
    for agent in ["claude-answer", "codex-answer"] {
        let world = world("toolsleep");
        world.let_claude_run_commands();

        let mut team = world.env.start(&["run", "-m", agent, "What is the answer?"]);
        wait_until("the agent's command", || {
            world.env.processes().iter().any(|(_, line)| line.starts_with("perl -e sleep")).then_some(())
        });
        let expected = match stop {
            Stop::Signal(signal, code) => {
                team.signal(signal);
                Some(code)
            }
            Stop::Kill => {
                team.signal(Signal::SIGKILL);
                None
            }
            Stop::Cancel => {
                assert!(world.env.team(&["cancel", "latest"]).output().unwrap().status.success());
                Some(130)
            }
        };
        let status = team.wait();
        world.env.wait_for_no_processes();
        assert_eq!(status.code(), expected, "{agent}: {}", team.stderr());
        if !matches!(stop, Stop::Kill) {
            check(&world.env.session(), agent, End::Reason("CANCELLED", "cancelled"));
        }
    }
}

#[test]
fn ctrl_c_during_a_tool_call_leaves_no_process() {
    stopped_in_a_tool(Stop::Signal(Signal::SIGINT, 130));
}

#[test]
fn a_cancel_during_a_tool_call_leaves_no_process() {
    stopped_in_a_tool(Stop::Cancel);
}

#[test]
fn kill_9_during_a_tool_call_leaves_no_process() {
    stopped_in_a_tool(Stop::Kill);
}

#[test]
fn ctrl_c_while_the_provider_is_silent_leaves_no_process() {
    let world = world("hang");
    let mut team = world.env.start(&["run", "-m", "claude-answer,codex-answer", "What is the answer?"]);
    wait_until("both agents to ask", || (world.provider.requests("hang") >= 2).then_some(()));
    team.signal(Signal::SIGINT);
    assert_eq!(team.wait().code(), Some(130), "{}", team.stderr());
    world.env.wait_for_no_processes();
    let cancelled = End::Reason("CANCELLED", "cancelled");
    check(&world.env.session(), "claude-answer", cancelled);
    check(&world.env.session(), "codex-answer", cancelled);
}

#[test]
fn a_spent_quota_ends_claude_at_once() {
    let world = world("429long");
    let output = world.env.team(&["run", "-m", "claude-answer", "What is the answer?"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    check(&world.env.session(), "claude-answer", End::Reason("FAILED", "quota_exhausted"));
}

#[test]
fn a_forbidden_key_is_auth() {
    let auth = End::Reason("FAILED", "auth");
    world("403").run(4, auth, auth);
}

#[test]
fn an_overloaded_server_is_an_api_error() {
    let overloaded = End::Reason("FAILED", "api_error");
    world("529").run(4, overloaded, overloaded);
}

#[test]
fn a_connection_that_is_reset_is_a_network_failure_of_both() {
    let reset = End::Reason("FAILED", "network");
    world("reset").run(4, reset, reset);
}
