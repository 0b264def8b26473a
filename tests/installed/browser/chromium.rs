//! A headless Chromium, driven over a pipe by its DevTools protocol: no port, no further program.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long the browser may take for one thing: it shares the machine with everything else.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    next: u64,
    page: Option<String>,
    /// What the page told since it was opened.
    events: Vec<Value>,
    _profile: TempDir,
}

/// The program, wherever `.ci/run` or the system put it.
fn program() -> String {
    let path = std::env::var_os("PATH").unwrap();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found =
        std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|path| path.is_file());
    found.expect("no Chromium on PATH: `.ci/run` installs it").to_str().unwrap().to_owned()
}

impl Browser {
    /// Starts one that reaches nothing but the proxy at `proxy`, this machine's own addresses included.
    pub(crate) fn start(proxy: &str) -> Self {
        let profile = tempfile::Builder::new().prefix("team-browser-").tempdir().unwrap();
        let mut child = Command::new("sh")
            // The protocol is spoken over the third and fourth descriptor.
            .args(["-c", "exec \"$@\" 3<&0 4>&1 >/dev/null 2>&1", "sh", &program()])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-default-apps", "--disable-domain-reliability", "--no-pings"])
            .arg(format!("--proxy-server=http://{proxy}"))
            .arg("--proxy-bypass-list=<-loopback>")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|count| count > 0) {
                let value = serde_json::from_slice(&message[..message.len() - 1]).unwrap();
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let to = child.stdin.take();
        let mut browser = Self { child, to, from, next: 0, page: None, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.page = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    fn receive(&self, until: Instant, what: &str) -> Value {
        let left = until.saturating_duration_since(Instant::now());
        self.from.recv_timeout(left).unwrap_or_else(|error| panic!("{what}: the browser says nothing: {error}"))
    }

    /// Calls a method of the protocol.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(page) = &self.page {
            message["sessionId"] = json!(page);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        let to = self.to.as_mut().unwrap();
        to.write_all(&bytes).and_then(|()| to.flush()).unwrap();
        let until = Instant::now() + PATIENCE;
        loop {
            let mut answer = self.receive(until, method);
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    /// Opens a page and waits until it is there.
    #[track_caller]
    pub(crate) fn open(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", json!({"url": url}));
        let until = Instant::now() + PATIENCE;
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive(until, url);
            self.events.push(event);
        }
    }

    /// What the page's events of one kind say.
    pub(crate) fn told(&self, method: &str) -> Vec<Value> {
        self.events.iter().filter(|event| event["method"] == method).map(|event| event["params"].clone()).collect()
    }

    /// The value of an expression on the page.
    #[track_caller]
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let wanted = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.call("Runtime.evaluate", wanted);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    /// As a screen of this width, with light or dark colours.
    pub(crate) fn screen(&mut self, width: u32, scheme: &str) {
        let metrics = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", media);
    }

    /// Presses a key that has a name.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The end of its input is the browser's end.
        drop(self.to.take());
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
