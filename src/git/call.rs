//! Questions to git.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// The most that is kept of what git says about itself.
const MESSAGE_BYTES: u64 = 64 * 1024;

/// The most that is taken of a short answer.
const ANSWER_BYTES: u64 = 1024 * 1024;

/// Variables of a git command that `team` itself may run in: they point to another repository, or change what an answer
/// means.
const MISLEADING: [&str; 18] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_ATTR_SOURCE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// A question that git did not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It did not start.
    #[error("cannot start `git`: {0}")]
    Spawn(#[source] std::io::Error),
    /// It did not end in time.
    #[error("`git {command}` did not end within {limit:?}")]
    Deadline {
        /// Its subcommand.
        command: String,
        /// How long was waited.
        limit: Duration,
    },
    /// It ended with an error.
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// Its subcommand.
        command: String,
        /// The last line of what it said.
        message: String,
    },
    /// It said what it should not.
    #[error("`git {command}` answered in a way that is not understood: {answer}")]
    Unexpected {
        /// Its subcommand.
        command: String,
        /// The beginning of what it said.
        answer: String,
    },
    /// It said more than there is room for.
    #[error("`git {command}` has more than {limit} bytes to say")]
    TooMuch {
        /// Its subcommand.
        command: String,
        /// How much there is room for.
        limit: u64,
    },
}

/// What git said.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Whether there was more, in which case git was stopped.
    pub(super) cut: bool,
}

impl Answer {
    /// What it said, where it said all of it and ended well.
    pub(super) fn whole(self, command: &str, limit: u64) -> Result<Vec<u8>, GitError> {
        match self {
            Self { cut: true, .. } => Err(GitError::TooMuch { command: command.to_owned(), limit }),
            answer if !answer.status.success() => Err(failed(command, &answer)),
            answer => Ok(answer.stdout),
        }
    }
}

/// Git in one folder.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    folder: PathBuf,
    limit: Duration,
    /// What else git is to look at than what it finds in the folder.
    variables: Vec<(&'static str, OsString)>,
}

impl Git {
    /// Asks about `folder`; each call may take up to `limit`.
    #[must_use]
    pub fn new(folder: &Path, limit: Duration) -> Self {
        Self { program: "git".into(), folder: folder.to_owned(), limit, variables: Vec::new() }
    }

    /// The folder that is asked about.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The same, run in another folder.
    pub(super) fn in_folder(&self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..self.clone() }
    }

    /// The same with a variable of git's own.
    pub(super) fn with(&self, name: &'static str, value: impl Into<OsString>) -> Self {
        let mut git = self.clone();
        git.variables.retain(|(known, _)| *known != name);
        git.variables.push((name, value.into()));
        git
    }

    /// What `git --version` says.
    pub async fn version(&self) -> Result<String, GitError> {
        let output = self.ask(&["--version".as_ref()]).await?;
        if !output.status.success() {
            return Err(failed("--version", &output));
        }
        Ok(first_line(&output.stdout))
    }

    /// How git calls the user, if it was told (`user.name`).
    pub async fn user_name(&self) -> Result<Option<String>, GitError> {
        let output = self.ask(&["config", "--get", "user.name"].map(OsStr::new)).await?;
        let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((output.status.success() && !name.is_empty()).then_some(name))
    }

    /// The root of the work tree that the folder is in, if it is in one.
    pub async fn work_tree(&self) -> Result<Option<PathBuf>, GitError> {
        use std::os::unix::ffi::OsStrExt;
        let output = self.ask(&["rev-parse".as_ref(), "--show-toplevel".as_ref()]).await?;
        if output.status.success() {
            let path = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
            return Ok((!path.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(path))));
        }
        // 128 with these words is the answer "no"; anything else (an unsafe owner, a broken repository) is an error.
        let message = String::from_utf8_lossy(&output.stderr);
        let outside =
            ["not a git repository", "must be run in a work tree"].iter().any(|words| message.contains(words));
        if outside { Ok(None) } else { Err(failed("rev-parse", &output)) }
    }

    /// Whether `path` is ignored by the rules of the repository.
    pub async fn is_ignored(&self, path: &Path) -> Result<bool, GitError> {
        let output = self.ask(&["check-ignore".as_ref(), "-q".as_ref(), "--".as_ref(), path.as_os_str()]).await?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(failed("check-ignore", &output)),
        }
    }

    /// Asks for a short answer.
    pub(super) async fn ask(&self, arguments: &[&OsStr]) -> Result<Answer, GitError> {
        let answer = self.read(arguments, ANSWER_BYTES).await?;
        if answer.cut {
            return Err(GitError::TooMuch { command: command_of(arguments), limit: ANSWER_BYTES });
        }
        Ok(answer)
    }

    /// Asks, and takes at most `most` bytes of the answer.
    pub(super) async fn read(&self, arguments: &[&OsStr], most: u64) -> Result<Answer, GitError> {
        self.converse(arguments, None, most).await
    }

    /// Does what `words` say, with `input` to read, and gives back the short answer without its line end.
    pub(super) async fn act(&self, words: &[&OsStr], input: Option<&[u8]>) -> Result<String, GitError> {
        let command = command_of(words);
        let stdout = self.converse(words, input, ANSWER_BYTES).await?.whole(&command, ANSWER_BYTES)?;
        Ok(String::from_utf8_lossy(&stdout).trim_end_matches('\n').to_owned())
    }

    async fn converse(&self, arguments: &[&OsStr], input: Option<&[u8]>, most: u64) -> Result<Answer, GitError> {
        let mut command = Command::new(&self.program);
        command
            .args(["--no-pager", "--no-optional-locks"])
            // A repository can name programs of its own for these.
            .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"])
            .args(arguments)
            .current_dir(&self.folder)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_PAGER", "cat")
            // What a repository says stands for a commit is not that commit, and nothing is fetched unasked.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .envs(["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "SSH_ASKPASS"].map(|name| (name, "true")))
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for name in MISLEADING {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let mut child = command.spawn().map_err(GitError::Spawn)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let work = async {
            let input = async {
                if let (Some(mut stdin), Some(input)) = (stdin, input) {
                    // Git may have heard enough before it has read all.
                    match stdin.write_all(input).await {
                        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error),
                        _ => {}
                    }
                }
                Ok(())
            };
            let output = async {
                let (bytes, cut) = bounded(stdout, most).await?;
                if cut {
                    child.start_kill()?;
                }
                Ok((bytes, cut))
            };
            let ((stdout, cut), stderr, ()) = tokio::try_join!(output, beginning(stderr, MESSAGE_BYTES), input)?;
            Ok(Answer { status: child.wait().await?, stdout, stderr, cut })
        };
        match tokio::time::timeout(self.limit, work).await {
            Ok(answer) => answer.map_err(GitError::Spawn),
            Err(_) => Err(GitError::Deadline { command: command_of(arguments), limit: self.limit }),
        }
    }
}

/// The first `most` bytes, and whether there are more.
async fn bounded(stream: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(most.saturating_add(1)).read_to_end(&mut bytes).await?;
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let cut = bytes.len() > most;
    bytes.truncate(most);
    Ok((bytes, cut))
}

/// The first `most` bytes; the rest is read and dropped, so that who writes is not held up.
async fn beginning(stream: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        (&mut stream).take(most).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}

/// The subcommand among the arguments.
fn command_of(arguments: &[&OsStr]) -> String {
    // Settings for one call come before it.
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    let mut word = words.find(|word| !word.starts_with("--literal"));
    while word.as_deref() == Some("-c") {
        word = words.nth(1);
    }
    word.map(std::borrow::Cow::into_owned).unwrap_or_default()
}

pub(super) fn failed(command: &str, output: &Answer) -> GitError {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing");
    GitError::Failed {
        command: command.to_owned(),
        message: line.chars().filter(|c| !c.is_control()).take(300).collect(),
    }
}

fn first_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let status = std::process::Command::new("git").args(["init", "-q"]).current_dir(dir.path()).status().unwrap();
        assert!(status.success());
        dir
    }

    #[tokio::test]
    async fn a_folder_inside_of_a_work_tree_knows_its_root() {
        let dir = repository();
        let sub = dir.path().join("a");
        fs_err::create_dir(&sub).unwrap();
        let root = Git::new(&sub, LIMIT).work_tree().await.unwrap().unwrap();
        assert_eq!(root, dir.path().canonicalize().unwrap());
        let outside = tempfile::tempdir().unwrap();
        assert_eq!(Git::new(outside.path(), LIMIT).work_tree().await.unwrap(), None);
    }

    #[tokio::test]
    async fn ignored_paths_are_told_from_others() {
        let dir = repository();
        crate::git::with_line("", "/ai-docs/sessions/", "x").inspect(|text| {
            use std::io::Write;
            let mut file =
                fs_err::OpenOptions::new().create_new(true).write(true).open(dir.path().join(".gitignore")).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        });
        let git = Git::new(dir.path(), LIMIT);
        assert!(git.is_ignored(Path::new("ai-docs/sessions/x")).await.unwrap());
        assert!(!git.is_ignored(Path::new("src/main.rs")).await.unwrap());
        let error = git.is_ignored(Path::new("../outside")).await.unwrap_err().to_string();
        assert!(error.contains("outside repository"), "{error}");
    }

    /// A program that stands for git: a shell script. A child writes it: a file that this process had open for writing
    /// could not be started while another test forks.
    fn stand_in(dir: &Path, script: &str, limit: Duration) -> Git {
        use std::os::unix::fs::PermissionsExt;
        let program = dir.join("git");
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > git";
        let written = std::process::Command::new("sh").args(["-c", write, "sh", script]).current_dir(dir).status();
        assert!(written.unwrap().success());
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Git { program, folder: dir.to_owned(), limit, variables: Vec::new() }
    }

    #[tokio::test]
    async fn an_answer_of_any_length_is_cut_where_it_is_asked_to_be_and_the_call_ends() {
        let dir = tempfile::tempdir().unwrap();
        let git = stand_in(dir.path(), "while :; do echo 0123456789; done", LIMIT);
        let answer = git.read(&["x".as_ref()], 25).await.unwrap();
        assert_eq!((answer.stdout.as_slice(), answer.cut), (&b"0123456789\n0123456789\n012"[..], true));
        let error = answer.whole("x", 25).unwrap_err();
        assert!(matches!(error, GitError::TooMuch { limit: 25, .. }), "{error}");
    }

    #[tokio::test]
    async fn any_number_of_complaints_does_not_hold_a_call_up() {
        let dir = tempfile::tempdir().unwrap();
        let git = stand_in(dir.path(), "yes complaint | head -c 1000000 >&2; echo 2.0", LIMIT);
        assert_eq!(git.version().await.unwrap(), "2.0");
    }

    #[tokio::test]
    async fn a_call_that_takes_too_long_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let git = stand_in(dir.path(), "exec sleep 60", Duration::from_millis(50));
        let error = git.version().await.unwrap_err();
        assert!(matches!(error, GitError::Deadline { .. }), "{error}");
    }
}
