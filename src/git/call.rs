//! Questions to git.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;

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
}

/// Git in one folder.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    folder: PathBuf,
    limit: Duration,
}

impl Git {
    /// Asks about `folder`; each call may take up to `limit`.
    #[must_use]
    pub fn new(folder: &Path, limit: Duration) -> Self {
        Self { program: "git".into(), folder: folder.to_owned(), limit }
    }

    /// What `git --version` says.
    pub async fn version(&self) -> Result<String, GitError> {
        let output = self.ask(&["--version".as_ref()]).await?;
        if !output.status.success() {
            return Err(failed("--version", &output));
        }
        Ok(first_line(&output.stdout))
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

    pub(super) async fn ask(&self, arguments: &[&OsStr]) -> Result<Output, GitError> {
        let mut command = Command::new(&self.program);
        command
            // A repository can name programs of its own for these.
            .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
            .args(arguments)
            .current_dir(&self.folder)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_PAGER", "cat")
            .envs(["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "SSH_ASKPASS"].map(|name| (name, "true")))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Set inside of a hook, where they point to that hook's repository.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"] {
            command.env_remove(name);
        }
        let child = command.spawn().map_err(GitError::Spawn)?;
        match tokio::time::timeout(self.limit, child.wait_with_output()).await {
            Ok(output) => output.map_err(GitError::Spawn),
            Err(_) => {
                let command = arguments.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
                Err(GitError::Deadline { command, limit: self.limit })
            }
        }
    }
}

pub(super) fn failed(command: &str, output: &Output) -> GitError {
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

    #[tokio::test]
    async fn a_call_that_takes_too_long_is_given_up() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("git");
        // Written by a child: a file that this process had open for writing could not be started while another test
        // forks.
        let script = "printf '#!/bin/sh\\nexec sleep 60\\n' > git";
        assert!(
            std::process::Command::new("sh").args(["-c", script]).current_dir(dir.path()).status().unwrap().success()
        );
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let git = Git { program, folder: dir.path().to_owned(), limit: Duration::from_millis(50) };
        let error = git.version().await.unwrap_err();
        assert!(matches!(error, GitError::Deadline { .. }), "{error}");
    }
}
