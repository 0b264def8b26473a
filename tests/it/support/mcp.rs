//! A client of `team mcp` that writes and reads the protocol's own lines.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::{DEADLINE, TestEnv, wait_until};

/// The revision with a handshake.
pub(crate) const WITH_HANDSHAKE: &str = "2025-11-25";

/// The revision without one.
pub(crate) const WITHOUT: &str = "2026-07-28";

/// A server, and the client's ends of its streams.
#[derive(Debug)]
pub(crate) struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What came and was not asked for yet.
    waiting: Vec<Value>,
    next: u64,
}

impl McpClient {
    /// Starts a server and says nothing.
    pub(crate) fn start(env: &TestEnv) -> Self {
        Self::start_under(env, &[])
    }

    /// The same below a wrapper, which must become the program by `exec`; the server leads a process group of its own.
    pub(crate) fn start_under(env: &TestEnv, wrapper: &[&str]) -> Self {
        let mut command = env.command_under(wrapper, &["mcp"]);
        command.process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, waiting: Vec::new(), next: 1 }
    }

    /// Starts a server and shakes hands.
    pub(crate) fn connect(env: &TestEnv) -> Self {
        let mut client = Self::start(env);
        client.shake_hands();
        client
    }

    /// Shakes hands; gives what the server says of itself.
    pub(crate) fn shake_hands(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": WITH_HANDSHAKE, "capabilities": {}, "clientInfo": client});
        let told = self.request("initialize", &params);
        self.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        told["result"].clone()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Sends a request; gives its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The next message that `wanted` is about. Every line must be one of the protocol.
    #[track_caller]
    pub(crate) fn message(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at);
        }
        loop {
            let line =
                self.lines.recv_timeout(2 * DEADLINE).unwrap_or_else(|_| panic!("nothing came; {:?}", self.waiting));
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if wanted(&message) {
                return message;
            }
            self.waiting.push(message);
        }
    }

    /// The reply to the request `id`.
    #[track_caller]
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        self.message(|message| message["id"] == id)
    }

    /// Sends a request and waits for its reply.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.reply(id)
    }

    /// Begins a call of the tool `team`.
    pub(crate) fn begin(&mut self, arguments: &Value) -> u64 {
        self.begin_of("team", arguments)
    }

    /// Begins a call of the tool `name`.
    pub(crate) fn begin_of(&mut self, name: &str, arguments: &Value) -> u64 {
        self.send("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Calls the tool; gives the result.
    #[track_caller]
    pub(crate) fn call(&mut self, arguments: &Value) -> Called {
        self.call_of("team", arguments)
    }

    /// Calls the tool `name`; gives the result.
    #[track_caller]
    pub(crate) fn call_of(&mut self, name: &str, arguments: &Value) -> Called {
        let id = self.begin_of(name, arguments);
        Called(self.reply(id))
    }

    /// Calls the tool, which must not fail; gives the object of the result.
    #[track_caller]
    pub(crate) fn object(&mut self, arguments: &Value) -> Value {
        self.call(arguments).object()
    }

    /// Calls the tool, which must fail; gives what it says.
    #[track_caller]
    pub(crate) fn refused(&mut self, arguments: &Value) -> String {
        self.refused_of("team", arguments)
    }

    /// Calls the tool `name`, which must fail; gives what it says.
    #[track_caller]
    pub(crate) fn refused_of(&mut self, name: &str, arguments: &Value) -> String {
        let called = self.call_of(name, arguments);
        assert_eq!(called.0["result"]["isError"], true, "{arguments}: {}", called.0);
        called.text(0)
    }

    /// What came unasked for until now.
    pub(crate) fn unasked(&self) -> &[Value] {
        &self.waiting
    }

    /// Closes the server's input, as a client that is gone.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Waits until the server has ended.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let child = &mut self.child;
        wait_until("the server's end", || child.try_wait().unwrap())
    }

    /// Hangs up and waits; the server must end well.
    #[track_caller]
    pub(crate) fn leave(mut self) {
        self.hang_up();
        assert_eq!(self.wait().code(), Some(0));
    }
}

impl Drop for McpClient {
    /// A failed test leaves nothing running.
    fn drop(&mut self) {
        self.stdin = None;
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The reply to a call of a tool.
#[derive(Debug)]
pub(crate) struct Called(pub(crate) Value);

impl Called {
    /// One of its texts.
    #[track_caller]
    pub(crate) fn text(&self, at: usize) -> String {
        let text = self.0["result"]["content"][at]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text {at} in {}", self.0)).to_owned()
    }

    /// Its object; it must be no failure.
    #[track_caller]
    pub(crate) fn object(&self) -> Value {
        assert_eq!(self.0["result"]["isError"], false, "{}", self.0);
        let text = self.text(0);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}
