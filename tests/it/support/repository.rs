//! Git in a test's project.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use super::{Session, TestEnv};

/// Runs git in the project, with an identity and nothing inherited, and gives what it prints.
#[track_caller]
pub(crate) fn git<S: AsRef<OsStr>>(env: &TestEnv, arguments: &[S]) -> String {
    git_reading(env, arguments, "")
}

/// The same with what it reads.
#[track_caller]
fn git_reading<S: AsRef<OsStr>>(env: &TestEnv, arguments: &[S], input: &str) -> String {
    let mut child = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(env.project())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", env.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever wants nothing may be gone already; whoever wants it says what is wrong with it.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// A repository in a world of its own, whose branch `topic` is checked out.
#[derive(Debug)]
pub(crate) struct Repository {
    pub(crate) env: TestEnv,
}

impl Repository {
    /// `main` has the files of `base`; `topic` is a commit further where it changes anything. What sessions and outputs
    /// are written to is ignored.
    ///
    /// Git takes all of it at once: a program for each step would be most of what many tests take.
    #[track_caller]
    pub(crate) fn new(env: TestEnv, base: &[(&str, &str)], topic: &[(&str, &str)]) -> Self {
        git(&env, &["init", "-q", "-b", "main", "--template="]);
        let ignored = (".gitignore", "/ai-docs/\n/out/\n");
        let mut stream = String::new();
        let mut commit = |branch: &str, message: &str, files: &mut dyn Iterator<Item = (&str, &str)>| {
            let from = if branch == "main" { "" } else { "from refs/heads/main\n" };
            let length = message.len();
            let who = "T <t@example.org> now";
            write!(stream, "commit refs/heads/{branch}\ncommitter {who}\ndata {length}\n{message}\n{from}").unwrap();
            for (path, text) in files {
                write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
            }
        };
        commit("main", "base", &mut base.iter().copied().chain([ignored]));
        if topic.is_empty() {
            stream.push_str("reset refs/heads/topic\nfrom refs/heads/main\n");
        } else {
            commit("topic", "a change", &mut topic.iter().copied());
        }
        let import = ["-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--date-format=now"];
        git_reading(&env, &import, &stream);
        git(&env, &["checkout", "-q", "topic"]);
        Self { env }
    }

    /// Commits all that there is, and gives the hash.
    #[track_caller]
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in the project, and gives what it prints.
    #[track_caller]
    pub(crate) fn git<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        git(&self.env, arguments)
    }

    /// The only session there is.
    #[track_caller]
    pub(crate) fn session(&self) -> Session {
        self.env.session()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        self.env.write(path, text);
    }

    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.env.path(path)).unwrap()
    }
}
