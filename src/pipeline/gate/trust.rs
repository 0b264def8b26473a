//! Nothing that a gate runs or reads for its vote is the branch's own.
//!
//! Settings come from the base, and can name a program, a script or a recording in the work tree, where the branch has its
//! own. Such a file must be the base's, byte for byte. What a program loads by itself is out of sight here.

use std::path::{Path, PathBuf};

use super::base::ask_failed;
use super::settings::repo_path;
use crate::config::{AgentKind, Environment, ResolvedModel, Target};
use crate::error::{Error, Result};
use crate::git::{CommitId, EntryKind, Git};
use crate::prompts::PromptName;
use crate::slots::agents::locate;

/// Refuses a file of the work tree at `root` that `models` or `command` would use and that is not as `base` has it.
pub async fn check_trust(
    git: &Git,
    root: &Path,
    cwd: &Path,
    base: &CommitId,
    models: &[ResolvedModel],
    command: &[String],
    environment: &Environment,
) -> Result<()> {
    for model in models {
        let files = match &model.target {
            Target::Process { agent: AgentKind::Custom, command, .. } => files_of(command, cwd, environment),
            Target::Process { command, .. } => files_of(command.get(..1).unwrap_or_default(), cwd, environment),
            Target::Replay { file, .. } => vec![cwd.join(file)],
            Target::Http { .. } | Target::Local { .. } => Vec::new(),
        };
        for file in files {
            check(git, root, base, &file, &format!("model `{}`", model.name)).await?;
        }
    }
    for file in files_of(command, root, environment) {
        check(git, root, base, &file, "`gate.command`").await?;
    }
    Ok(())
}

/// The program, and the arguments that are files.
fn files_of(command: &[String], folder: &Path, environment: &Environment) -> Vec<PathBuf> {
    let Some((program, arguments)) = command.split_first() else { return Vec::new() };
    let program = if program.contains('/') { Some(folder.join(program)) } else { locate(program, environment) };
    let arguments = arguments.iter().filter(|word| !word.is_empty()).map(|word| folder.join(word));
    program.into_iter().chain(arguments.filter(|path| path.is_file())).collect()
}

/// The same of the texts in `dir` that take the place of built-in ones.
pub async fn check_prompts(git: &Git, root: &Path, dir: &Path, base: &CommitId) -> Result<()> {
    for name in PromptName::ALL {
        let file = dir.join(name.file_name());
        if file.symlink_metadata().is_ok() {
            check(git, root, base, &file, "`--prompts`").await?;
        }
    }
    Ok(())
}

async fn check(git: &Git, root: &Path, base: &CommitId, file: &Path, user: &str) -> Result<()> {
    // A link out of the work tree is the branch's as well, and so is a file that a link leads to.
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    for path in [file, &real] {
        let Some(inside) = repo_path(root, path) else { continue };
        let entry = git.entry_at(base, &inside).await.map_err(ask_failed)?;
        let same = match entry {
            Some(entry) if entry.kind == EntryKind::File && path.is_file() => {
                entry.object == git.hash_of(path).await.map_err(ask_failed)?
            }
            // A link that the base has is followed to what it leads to, which is checked by itself.
            Some(entry) => entry.kind == EntryKind::Link && path != real && link_is(git, path, &entry.object).await?,
            None => false,
        };
        if !same {
            return Err(Error::usage(format!(
                "{user} would use `{inside}`, which is not as the base has it: the branch has no say in what the gate runs"
            ))
            .hint("keep programs of the gate outside of the repository, or merge a change of them first"));
        }
    }
    Ok(())
}

async fn link_is(git: &Git, path: &Path, object: &str) -> Result<bool> {
    use std::os::unix::ffi::OsStrExt;
    let Ok(target) = fs_err::read_link(path) else { return Ok(false) };
    let file = crate::git::FileAt { kind: EntryKind::Link, object: object.to_owned() };
    let known = git.content(&file, 64 * 1024).await.map_err(ask_failed)?;
    Ok(known == target.as_os_str().as_bytes())
}
