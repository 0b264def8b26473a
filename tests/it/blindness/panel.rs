//! A panel in which everything has a name that is nobody else's, every ending is there, and nobody keeps a secret.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Answer, ClosedPort, Request, Server, TeamToml, TestEnv};

/// One seat: how it is asked for, how it ends, and the words that only this seat may see of itself.
pub(super) struct Seat {
    pub(super) model: &'static str,
    pub(super) ending: &'static str,
    /// What the model itself may call itself in its own answer, and see in its own environment.
    pub(super) own: &'static [&'static str],
}

const fn seat(model: &'static str, ending: &'static str, own: &'static [&'static str]) -> Seat {
    Seat { model, ending, own }
}

/// The seat that looks around.
pub(super) const SPY: &str = "kookaburra";

/// The seat that the test keeps at work until it is told to go on.
pub(super) const LAST: &str = "quokka-large";

/// Seats that only end when they are cancelled: one in the middle of its work, one before another try.
pub(super) const CANCELLED: [&str; 2] = ["claude:possum-9", "narwhal@dugong-later"];

pub(super) const SEATS: &[Seat] = &[
    seat(LAST, "COMPLETED", &["quokka", "bilby", "banksia"]),
    seat(SPY, "COMPLETED", &["kookaburra", "kingfisher"]),
    seat("narwhal@dugong-7b", "COMPLETED", &[]),
    seat("numbat", "FAILED nonzero_exit", &["numbat"]),
    seat("wombat", "FAILED spawn_failed", &[]),
    seat("echidna@monotreme-2", "FAILED network", &[]),
    seat("narwhal@dugong-401", "FAILED auth", &[]),
    seat("narwhal@dugong-402", "FAILED quota_exhausted", &[]),
    seat("narwhal@dugong-404", "FAILED unknown_model", &[]),
    seat("narwhal@dugong-413", "FAILED context_too_long", &[]),
    seat("narwhal@dugong-429", "FAILED rate_limited", &[]),
    seat("narwhal@dugong-500", "FAILED api_error", &[]),
    seat("narwhal@dugong-cut", "FAILED truncated", &["dugong", "narwhal"]),
    seat("narwhal@dugong-prose", "FAILED bad_output", &[]),
    seat("narwhal@dugong-shy", "EMPTY refused", &[]),
    seat("narwhal@dugong-mute", "EMPTY empty_output", &[]),
    seat("galago", "FAILED unterminated", &["galago"]),
    seat("cassowary", "FAILED blocked", &["cassowary"]),
    seat("codex:kea-5", "FAILED nonzero_exit", &["codex", "kea"]),
    seat("gemini:tuatara-3", "FAILED nonzero_exit", &["gemini", "tuatara"]),
    seat("opencode:rookery/weka-1", "FAILED nonzero_exit", &["opencode", "rookery", "weka"]),
    seat("llm:takahe-4", "FAILED nonzero_exit", &["takahe", "llm:"]),
    seat(CANCELLED[0], "CANCELLED cancelled", &["claude", "possum"]),
    seat(CANCELLED[1], "CANCELLED cancelled", &[]),
];

/// Every word that would name a seat, a judge, a program, a provider, a host or the variable of a key.
pub(super) const NAMES: &[&str] = &[
    "quokka",
    "bilby",
    "kookaburra",
    "kingfisher",
    "dugong",
    "narwhal",
    "numbat",
    "wombat",
    "echidna",
    "monotreme",
    "galago",
    "potoroo",
    "cassowary",
    "kea-5",
    "tuatara",
    "rookery",
    "weka",
    "takahe",
    "possum",
    "bandicoot",
    "drongo",
    "thylacine",
    "waratah",
    "banksia",
    "claude",
    "codex",
    "gemini",
    "opencode",
    "openai",
    "anthropic",
    "google",
    "llm:",
    "fake-agent",
    "fake_agent",
];

/// What the provider says, naming everything that it knows of itself.
fn narwhal(request: &Request) -> Answer {
    let model = request.body["model"].as_str().unwrap_or_default();
    let says = |message: &str| {
        json!({"error": {"message": format!("Narwhal's {model} at http://api.thylacine.example/v1: {message}; see \
            WARATAH_KEY"), "type": "invalid_request_error", "code": null}})
    };
    let reply = |text: &str, finish: &str| {
        let message = json!({"role": "assistant", "content": text});
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let usage = json!({"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18});
        Answer::json(
            200,
            &json!({"id": "c", "object": "chat.completion", "created": 1, "model": model,
            "choices": [choice], "usage": usage}),
        )
    };
    let waiting = |seconds: &str| {
        let headers = ["content-type: application/json", &format!("retry-after: {seconds}")];
        Answer::whole(429, &headers, says("slower, please").to_string())
    };
    let kind = model.rsplit('-').next().unwrap_or_default();
    let unknown = || {
        let mut error = says("no such model");
        error["error"]["code"] = "model_not_found".into();
        error
    };
    match kind {
        "429" => waiting("3600"),
        "later" => waiting("60"),
        "404" => Answer::json(404, &unknown()),
        "402" => Answer::json(402, &says("pay first")),
        "500" => Answer::whole(500, &["content-type: application/json", "retry-after: 0"], says("oh no").to_string()),
        "cut" => reply("I am Dugong of Narwhal and", "length"),
        "shy" => reply("", "content_filter"),
        "mute" => reply("", "stop"),
        "prose" => Answer::whole(200, &["content-type: text/plain"], format!("narwhal gateway: {model} is down\n")),
        _ => match kind.parse() {
            Ok(status) => Answer::json(status, &says("refused")),
            Err(_) => reply("It depends on the weather.", "stop"),
        },
    }
}

/// What is around the panel.
pub(super) struct World {
    pub(super) env: TestEnv,
    pub(super) server: Server,
    /// Where nobody listens, as host and port.
    pub(super) address: String,
    _closed: ClosedPort,
}

/// What a process can find out from where it is, in four parts. It waits for `go`, and is done when `seen` is there.
///
/// The mark before each part is put together when it is printed: this text itself is in sight of others, as an argument of
/// the process that writes it down, and must not look like a mark.
///
/// Not looked at: `/proc/net`, in which whoever shares a network sees addresses, as the README says.
const LOOK: &str = r#"#!/bin/sh
until [ -e go ]; do sleep 0.02; done
around="${PWD%/project/*}"
part() { printf '%s%s %s\n' "<=" "=>" "$1"; }
{
    part "itself"
    env
    for entry in cmdline environ comm maps mountinfo; do tr '\0' '\n' < "/proc/$$/$entry"; done | grep -av ' - overlay '
    readlink /proc/$$/exe /proc/$$/cwd /proc/$$/root /proc/$$/fd/*
    find . -type f ! -name look -exec cat {} +
    part "shared folders"
    find "$around" "$HOME" "${TMPDIR:-/tmp}" -type f -path "$around/*" ! -path "$around/project/*" ! -path "$around/output/*" -exec cat {} +
    part "its supervisors"
    for process in /proc/[0-9]*; do
        if tr '\0' '\n' < "$process/cmdline" | sed -n 2p | grep -qx -e __exec -e __init; then
            for entry in cmdline environ comm status maps; do tr '\0' '\n' < "$process/$entry"; done
            readlink "$process/exe" "$process/cwd" "$process/fd"/*
        fi
    done
    part "what holds private folders"
    find "$(dirname "${TMPDIR:-/tmp}")" "$around" /tmp/team-slots* /var/tmp/team-slots* /dev/shm/team-slots* -path "*team-slots*" -print -type f -exec cat {} +
    part "all processes"
    for process in /proc/[0-9]*; do
        for entry in cmdline environ comm maps stat; do tr '\0' '\n' < "$process/$entry"; done
        readlink "$process/exe" "$process/cwd" "$process/root" "$process/fd"/*
    done
    ps -ef
    part "all of the session"
    find "${PWD%/work/*}" ../.. ../../.. "$around/project/ai-docs" -print -type f ! -name look -exec cat {} +
} < /dev/null > look 2> /dev/null
: > seen
exec "${0%/*}/kingfisher" 'answer A plain answer.' 'vote approve'
"#;

pub(super) fn world(isolation: &str) -> World {
    let server = Server::start(narwhal);
    let closed = ClosedPort::take();
    let env = TestEnv::new()
        .set("WARATAH_KEY", "sk-narwhal-0123456789abcdefghijklmnop")
        .set("BANKSIA_TOKEN", "tok-98765432")
        .set("OPENAI_API_KEY", "sk-kea-0123456789abcdefghijklmnop")
        .set("GEMINI_API_KEY", "tuatara-0123456789abcdefghijklmn")
        .set("ANTHROPIC_API_KEY", "possum-0123456789abcdefghijklmn")
        .set("HTTP_PROXY", server.url("").trim_end_matches('/'))
        .set("TEAM_ISOLATION", isolation);
    // Nothing of the machine's own is in `PATH`: a folder may be called by one of the names.
    let bin = env.path("bin").display().to_string();
    let env = env.set("PATH", &format!("{bin}:/usr/bin:/bin"));
    // A failure that is told on both streams, and a transcript, where each of these leaves it.
    let fails = |name: &str, trace: &str| {
        let boast = format!("{name}: no luck with {name} today");
        format!(
            "#!/bin/sh\ncat > /dev/null\nmkdir -p \"{trace}\" \"${{TMPDIR:-/tmp}}/{name}-0\"\n\
             echo '{boast}' | tee \"{trace}/{name}\" \"${{TMPDIR:-/tmp}}/{name}-0/x\" >&2\n\
             echo '{boast}'; exit 7\n"
        )
    };
    let program = |name: &str, script: &str| executable(Path::new(&bin), name, script);
    program("codex", &fails("codex", "$HOME/.codex/sessions"));
    program("gemini", &fails("gemini", "$GEMINI_CLI_HOME/.gemini/tmp"));
    program("opencode", &fails("opencode", "$XDG_DATA_HOME/opencode/log"));
    program("llm", &fails("llm", "$TMPDIR/llm"));
    program(
        "claude",
        "#!/bin/sh\nmkdir -p \"$HOME/.claude/projects\"; cat > \"$HOME/.claude/projects/claude\"\n\
         echo '{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"possum-9-ringtail\",\"session_id\":\"s\"}'\n\
         echo 'claude: possum-9 is busy' >&2; exec sleep 1000\n",
    );
    program("drongo-look", LOOK);
    std::fs::rename(env.path("bin/drongo-look"), env.path(&format!("bin/{SPY}"))).unwrap();
    for name in ["bilby", "numbat-cli", "cassowary-cli", "bandicoot-cli", "kingfisher"] {
        let path = env.path(&format!("bin/{name}"));
        // Not a link that can be followed, for that would give everybody the same name.
        if std::fs::hard_link(env!("CARGO_BIN_EXE_fake-agent"), &path).is_err() {
            std::fs::copy(env!("CARGO_BIN_EXE_fake-agent"), &path).unwrap();
        }
    }
    env.write(
        "potoroo.jsonl",
        "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"galago-1\",\"session_id\":\"s\"}\n",
    );
    env.write("team.toml", config(&env, &closed.url()).text());
    let address = closed.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
    World { env, server, address, _closed: closed }
}

/// Written by a child, so that no test has it open for writing when it is run.
fn executable(bin: &Path, name: &str, script: &str) {
    let write = "mkdir -p \"$1\" && printf '%s' \"$3\" > \"$1/$2\" && chmod 755 \"$1/$2\"";
    let arguments = [bin.as_os_str(), name.as_ref(), script.as_ref()];
    assert!(std::process::Command::new("sh").args(["-c", write, "sh"]).args(arguments).status().unwrap().success());
}

fn config(env: &TestEnv, closed: &str) -> TeamToml {
    let command = |program: &str, steps: &[&str]| {
        let path = env.path(&format!("bin/{program}")).display().to_string();
        let words = std::iter::once(path.as_str()).chain(steps.iter().copied()).map(toml::Value::from);
        ("command", toml::Value::Array(words.collect()))
    };
    let frames = ("output", toml::Value::from("claude-stream-json"));
    let ask: Value = json!({"type": "assistant", "message": {"content": [{"type": "tool_use",
        "name": "mcp__cassowary__AskUserQuestion", "input": {}}, {"type": "tool_use", "name": "AskUserQuestion",
        "input": {"questions": [{"question": "Does Cassowary know?"}]}}]}});
    let end =
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "", "stop_reason": "end_turn"});
    let (ask, end) = (format!("print {ask}"), format!("print {end}"));
    let token = [("BANKSIA_TOKEN".to_owned(), "${BANKSIA_TOKEN}".into())].into_iter().collect();
    let quokka = [
        "stderr bilby: quokka-large is thinking",
        "wait-for seen",
        "answer I am quokka-large, a model made by Bilby. It depends.",
        "vote approve",
    ];
    let numbat = ["stderr numbat-cli: no such model numbat", "print I would be numbat", "exit 3"];
    let seconds = ["print numbat-slow begins", "stderr numbat-cli: numbat-slow is here", "hang"];
    TeamToml::new()
        .model(LAST, &[command("bilby", &quokka), ("env", toml::Value::Table(token))])
        .model(SPY, &[command(SPY, &[])])
        .model("numbat", &[command("numbat-cli", &numbat)])
        .model("numbat-slow", &[command("numbat-cli", &seconds)])
        .model("wombat", &[command("wombat-cli", &[])])
        .model("galago", &[("use", "replay:potoroo.jsonl#claude-stream-json".into())])
        .model("cassowary", &[command("cassowary-cli", &[&ask, &end]), frames])
        .model("bandicoot", &[command("bandicoot-cli", &["wait-for seen", "vote approve"])])
        .provider(
            "narwhal",
            &[
                ("wire", "openai-chat".into()),
                ("base_url", "http://api.thylacine.example/v1".into()),
                ("api_key_env", "WARATAH_KEY".into()),
            ],
        )
        .provider("echidna", &[("wire", "openai-chat".into()), ("base_url", format!("{closed}echidna/v1").into())])
}
