//! Runs a column of the table: one panel with a slot for each fault, and what must hold of every slot whatever it met.

use std::collections::BTreeMap;
use std::sync::Arc;

use rstest::rstest;
use serde_json::Value;

use super::faults::{self, PIECES, Stage};
use super::table::{CANCELLED, Expected, IDLE, NO_RETRIES, RUN, column};
use super::wires::{
    AnthropicMessages, GeminiGenerate, KEY, MODEL, OllamaChat, OpenaiChat, OpenaiResponses, THOUGHT, Wire,
};
use crate::support::{Answer, Background, ClosedPort, Gate, Server, Session, TeamToml, TestEnv, wait_until};

/// More words than half of [`PROMPT_TOKENS`](super::wires::PROMPT_TOKENS), so that a server which counts only 60 cut it.
fn prompt() -> String {
    format!("Compare the two designs.\n\n{}\n", "Consider each of them again. ".repeat(300))
}

/// A panel of faults on one wire, and the servers behind it.
struct Column {
    wire: &'static dyn Wire,
    cells: Vec<Expected>,
    env: TestEnv,
    server: Server,
    elsewhere: Server,
    gate: Gate,
    _closed: ClosedPort,
}

impl Column {
    fn new(wire: &'static dyn Wire, table: &'static str) -> Self {
        let cells = column(table, wire.name());
        let gate = Gate::new();
        let elsewhere = Server::start(|_| Answer::nothing());
        let stage =
            Arc::new(Stage { wire, gate: gate.clone(), elsewhere: elsewhere.url("").trim_end_matches('/').into() });
        let server = Server::start(move |request| faults::answer(&stage, request));
        let closed = ClosedPort::take();
        let names: Vec<String> = cells.iter().map(|cell| alias(cell.fault)).collect();
        let mut config = TeamToml::new().panel(&names.iter().map(String::as_str).collect::<Vec<_>>());
        for (fault, name) in cells.iter().map(|cell| cell.fault).zip(&names) {
            let base = if fault == "refused" { closed.url() } else { server.url(fault) };
            let provider = format!("wombat-{name}");
            let keys =
                [("wire", wire.name().into()), ("base_url", base.into()), ("api_key_env", "WOMBAT_API_KEY".into())];
            let mut settings = faults::settings(fault, wire);
            settings.push(("use", format!("{provider}@{MODEL}").into()));
            config = config.provider(&provider, &keys).model(name, &settings);
        }
        let env = TestEnv::with(&config).set("WOMBAT_API_KEY", KEY);
        env.write("input.md", prompt());
        Self { wire, cells, env, server, elsewhere, gate, _closed: closed }
    }

    /// Runs the panel to its end. What is held back is let go once everybody else is done: nobody was timed.
    fn run(&self, options: &[&str]) -> Session {
        let mut team = self.env.start(&[&["run", "input.md"], options].concat());
        let session = self.begun(&mut team);
        let cells = self.cells.iter().filter(|cell| !matches!(cell.fault, "stall-before" | "stall-middle"));
        let ids = ids(&session, cells.map(|cell| cell.fault));
        wait_until("the end of whoever is not held back", || have_ended(&session, &ids).then_some(()));
        self.gate.open();
        let status = team.wait();
        assert_eq!(status.code(), Some(0), "{}", team.stderr());
        self.check(&session, &format!("{}{}", team.stdout(), team.stderr()));
        session
    }

    /// The session, once it is there.
    fn begun(&self, team: &mut Background) -> Session {
        wait_until("the session", || {
            assert!(!team.has_ended(), "{}", team.stderr());
            self.env.sessions().into_iter().find(|session| session.has("manifest.json"))
        })
    }

    fn check(&self, session: &Session, printed: &str) {
        let mut wrong = Vec::new();
        let status = session.json("status.json");
        let ids = ids(session, self.cells.iter().map(|cell| cell.fault));
        for (cell, id) in self.cells.iter().zip(&ids) {
            let slot = status["models"][id].clone();
            let found = ending(&slot);
            let requests = self.server.requests_of(cell.fault);
            let detail = slot["error"]["detail"].as_str().unwrap_or_default();
            let silent = cell.words.iter().find(|word| !detail.contains(**word));
            if found != cell.ending || requests != cell.requests || silent.is_some() {
                let Expected { ending, requests: wanted, words, .. } = cell;
                wrong.push(format!(
                    "{} x {}:\n  expected {ending} x{wanted} {words:?}\n  found    {found} x{requests} {detail:?}",
                    self.wire.name(),
                    cell.fault
                ));
            }
            wrong.extend(self.wrong_files(session, cell, id, &slot));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        self.check_requests();
        check_secrecy(session, printed);
        check_record(session);
    }

    /// An answer is there whole or not at all, and what there is of it otherwise is its beginning.
    fn wrong_files(&self, session: &Session, cell: &Expected, id: &str, slot: &Value) -> Option<String> {
        let name = format!("{} x {}", self.wire.name(), cell.fault);
        let whole = match cell.fault {
            "event-10-mb" => faults::big_text(),
            _ => PIECES.concat(),
        };
        let answer = std::fs::read_to_string(session.path(&format!("response-{id}.md"))).ok();
        let partial = std::fs::read(session.path(&format!("errors/{id}.partial.md"))).unwrap_or_default();
        let partial = String::from_utf8(partial).expect(&name);
        match (slot["state"] == "COMPLETED", answer) {
            (true, Some(text)) if text == whole => None,
            (true, Some(text)) => Some(format!("{name}: the answer is {}", shown(&text))),
            (true, None) => Some(format!("{name}: COMPLETED without an answer")),
            (false, Some(_)) => Some(format!("{name}: an answer although {slot}")),
            (false, None) if !partial.trim().is_empty() && !whole.starts_with(&partial) => {
                Some(format!("{name}: never said: {}", shown(&partial)))
            }
            (false, None) => {
                let error = &slot["error"];
                let says = |field: &str| error[field].as_str().is_some_and(|text| !text.trim().is_empty());
                let log = error["errorLogPath"].as_str().is_some_and(|path| session.has(path));
                (!says("detail") || !says("nextStep") || !log).then(|| format!("{name}: not told enough: {error}"))
            }
        }
    }

    /// Every request is one of this wire, carries the key in its header only, and went to its own host.
    fn check_requests(&self) {
        let prompt = prompt();
        let (header, key) = self.wire.key_header();
        for request in self.server.requests() {
            let name = format!("{} x {}", self.wire.name(), request.cell());
            assert_eq!(request.path, format!("/{}/{}", request.cell(), self.wire.path()), "{name}");
            assert_eq!(request.header(header), Some(key.as_str()), "{name}");
            assert_eq!(request.head.matches(KEY).count(), 1, "{name}: {}", request.head);
            assert!(self.wire.takes(&request.body), "{name}: {}", request.body);
            assert_eq!(self.wire.prompt(&request.body), Some(prompt.as_str()), "{name}");
            assert!(!request.body.to_string().contains(KEY), "{name}");
        }
        assert_eq!(self.elsewhere.connections(), 0, "a host that nobody named was asked");
    }
}

/// Neither the key, nor what names the slot, nor the model's thoughts are anywhere but where they belong.
#[track_caller]
fn check_secrecy(session: &Session, printed: &str) {
    for file in session.files() {
        let text = String::from_utf8_lossy(&std::fs::read(session.path(&file)).unwrap()).into_owned();
        assert!(!text.contains(KEY), "the key is in `{file}`");
        assert!(!text.contains(THOUGHT), "a thought is in `{file}`");
    }
    session.assert_names_nobody(&[MODEL, "wombat", "quoll"]);
    for word in [KEY, MODEL, "wombat", "quoll"] {
        assert!(!printed.contains(word), "`{word}` is printed: {printed}");
    }
}

/// Every slot that began has one end.
#[track_caller]
fn check_record(session: &Session) {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for event in session.events().iter().filter(|event| event["event"] == "slot_ended") {
        *ends.entry(event["slot"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(ends.into_values().collect::<Vec<_>>(), vec![1; session.slots().len()]);
}

/// The alias of a fault's slot. No word of the errors may be in it: a name's words are masked in them.
fn alias(fault: &str) -> String {
    let hash = fault.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    format!("quoll{hash:016x}")
}

fn shown(text: &str) -> String {
    let start: String = text.chars().take(200).collect();
    format!("{} bytes, {start:?}", text.len())
}

/// The ids of the slots of these faults. The files are long: they are read once, and not for each slot.
fn ids<'a>(session: &Session, faults: impl Iterator<Item = &'a str>) -> Vec<String> {
    let manifest = session.json("manifest.json");
    let models = manifest["models"].as_object().unwrap();
    let ids: BTreeMap<&str, &String> =
        models.iter().map(|(id, entry)| (entry["model"].as_str().unwrap(), id)).collect();
    faults.map(|fault| ids[alias(fault).as_str()].clone()).collect()
}

fn have_ended(session: &Session, ids: &[String]) -> bool {
    let Ok(text) = std::fs::read_to_string(session.path("status.json")) else { return false };
    let status: Value = serde_json::from_str(&text).unwrap();
    ids.iter().all(|id| !matches!(status["models"][id]["state"].as_str(), None | Some("PENDING" | "RUNNING")))
}

/// The state and the reason as the table writes them.
fn ending(slot: &Value) -> String {
    let state = slot["state"].as_str().unwrap_or("nothing");
    match slot["error"]["reason"].as_str() {
        Some(reason) => format!("{state} {reason}"),
        None => state.to_owned(),
    }
}

fn ended(session: &Session, fault: &str) -> Value {
    let id = session.id_of(&alias(fault));
    let events = session.events();
    events.into_iter().find(|event| event["event"] == "slot_ended" && event["slot"] == *id).unwrap()
}

#[rstest]
#[case::openai_chat(&OpenaiChat)]
#[case::openai_responses(&OpenaiResponses)]
#[case::anthropic_messages(&AnthropicMessages)]
#[case::gemini_generate(&GeminiGenerate)]
#[case::ollama_chat(&OllamaChat)]
fn every_fault_ends_as_the_table_says(#[case] wire: &'static dyn Wire) {
    let column = Column::new(wire, RUN);
    let session = column.run(&[]);
    assert_eq!(ended(&session, "length-accepted")["truncated"], true);
    assert_eq!(ended(&session, "whole")["truncated"], false);
    let dropped = ended(&session, "refused-setting")["droppedSettings"].clone();
    assert_eq!(dropped.as_array().map(Vec::len), Some(1), "{dropped}");
}

#[rstest]
#[case::openai_chat(&OpenaiChat)]
#[case::openai_responses(&OpenaiResponses)]
#[case::anthropic_messages(&AnthropicMessages)]
#[case::gemini_generate(&GeminiGenerate)]
#[case::ollama_chat(&OllamaChat)]
fn without_retries_each_fault_is_met_once(#[case] wire: &'static dyn Wire) {
    Column::new(wire, NO_RETRIES).run(&["--retries", "0"]);
}

#[rstest]
#[case::openai_chat(&OpenaiChat)]
#[case::openai_responses(&OpenaiResponses)]
#[case::anthropic_messages(&AnthropicMessages)]
#[case::gemini_generate(&GeminiGenerate)]
#[case::ollama_chat(&OllamaChat)]
fn silence_ends_a_slot_only_by_the_limit_of_the_user(#[case] wire: &'static dyn Wire) {
    Column::new(wire, IDLE).run(&["--idle-timeout", "1s"]);
}

#[rstest]
#[case::openai_chat(&OpenaiChat)]
#[case::openai_responses(&OpenaiResponses)]
#[case::anthropic_messages(&AnthropicMessages)]
#[case::gemini_generate(&GeminiGenerate)]
#[case::ollama_chat(&OllamaChat)]
fn whatever_a_slot_waits_for_it_can_be_cancelled(#[case] wire: &'static dyn Wire) {
    let column = Column::new(wire, CANCELLED);
    let mut team = column.env.start(&["run", "input.md"]);
    let session = column.begun(&mut team);
    let whole = ids(&session, ["whole"].into_iter());
    wait_until("every request and the answer that comes", || {
        let asked = column.cells.iter().all(|cell| column.server.requests_of(cell.fault) == cell.requests);
        (asked && have_ended(&session, &whole)).then_some(())
    });
    column.env.team(&["cancel", "latest"]).assert().success();
    assert_eq!(team.wait().code(), Some(130), "{}", team.stderr());
    column.check(&session, &format!("{}{}", team.stdout(), team.stderr()));
}
