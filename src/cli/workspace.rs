//! The workspace of a run: chosen and looked at before anything is made, and told.

use std::path::{Path, PathBuf};

use super::args::WorkspaceArgs;
use super::context::Context;
use crate::config::{Config, ResolvedModel, Target};
use crate::engine::{LeftOut, Origin, Selection, WorkspaceRequest};
use crate::error::{Error, Result};
use crate::report::{bytes, without_controls};
use crate::session::temporary_folders;

/// How many paths of a kind are named.
const NAMED: usize = 3;

/// The files that programs of the panel are to see, if any are. `base` is where the session will be, where that is known.
pub(super) async fn select(
    args: &WorkspaceArgs,
    config: &Config,
    models: &[ResolvedModel],
    base: Option<&Path>,
    context: &Context,
) -> Result<Option<Selection>> {
    let settings = config.settings();
    let Some(dir) = settings.workspace.as_deref().filter(|_| !args.no_workspace) else {
        if args.untracked.is_some() && !args.no_workspace {
            return Err(Error::usage("`--untracked` is about the files of a workspace, and there is none")
                .hint("`--workspace DIR` names its folder"));
        }
        return Ok(None);
    };
    let printer = &context.printer;
    let is_blind = |model: &&ResolvedModel| !matches!(model.target, Target::Process { .. });
    let mut blind: Vec<&str> = models.iter().filter(is_blind).map(|model| model.name.as_str()).collect();
    if models.iter().all(|model| is_blind(&model)) {
        let why =
            "no model of the panel can see files: an API is sent the prompt alone, and a recording is sent nothing";
        if args.workspace.is_some() {
            return Err(Error::usage(format!("`--workspace`: {why}"))
                .hint("name a program, such as `claude` or `codex`, or put the files into the prompt"));
        }
        printer.warning(format!("the workspace `{}` is not used: {why}", dir.display()));
        return Ok(None);
    }
    blind.sort_unstable();
    blind.dedup();
    if !blind.is_empty() {
        let names: Vec<String> = blind.iter().map(|name| format!("`{name}`")).collect();
        let verb = if blind.len() == 1 { "sees" } else { "see" };
        printer.warning(format!("{} {verb} nothing of the workspace: only programs can read files", names.join(", ")));
    }
    let mut sessions: Vec<PathBuf> =
        base.into_iter().chain([settings.sessions_dir.as_path()]).map(|path| context.cwd.join(path)).collect();
    sessions.extend(temporary_folders());
    let request = WorkspaceRequest { dir, untracked: settings.untracked, sessions: &sessions };
    let selection = Selection::of(request).await?;
    let how = match selection.origin() {
        Origin::Git => "what git tracks, as it is now",
        Origin::Folder => "all of the folder",
    };
    let files = counted(selection.files(), "file");
    let (size, root) = (bytes(selection.bytes()), selection.root().display());
    printer.note(format!("workspace: a read-only snapshot of `{root}`: {files}, {size} ({how})"));
    for left_out in told(selection.left_out()) {
        printer.note(format!("not in the workspace: {left_out}"));
    }
    Ok(Some(selection))
}

/// What the verdict says of it. No model is named.
pub(super) fn note(models: &[ResolvedModel]) -> String {
    let programs = models.iter().filter(|model| matches!(model.target, Target::Process { .. })).count();
    let text =
        "programs answered in a read-only snapshot of a folder, whose hash is in `events.jsonl`; judges saw none of it";
    match models.len() - programs {
        0 => text.to_owned(),
        blind => format!("{text}, nor did {blind} of {} seats, which are no programs", models.len()),
    }
}

fn told(left_out: &LeftOut) -> Vec<String> {
    let LeftOut { untracked, sessions, special, submodules, settings } = left_out;
    let mut told = Vec::new();
    if *untracked > 0 {
        let what = counted(*untracked, "untracked file");
        told.push(format!("{what} (`--untracked include` takes them)"));
    }
    let mut tell = |paths: &[PathBuf], what: &str| {
        if !paths.is_empty() {
            told.push(format!("{} ({what})", named(paths)));
        }
    };
    tell(sessions, "sessions");
    tell(special, "neither file, folder nor link");
    tell(submodules, "not checked out");
    tell(settings, "programs that run there would obey it");
    told
}

fn named(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| format!("`{}`", without_controls(&path.display().to_string()).replace('\n', " "));
    let mut names: Vec<String> = paths.iter().take(NAMED).map(name).collect();
    if paths.len() > NAMED {
        names.push(format!("{} more", paths.len() - NAMED));
    }
    names.join(", ")
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
