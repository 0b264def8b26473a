//! Options of the workspace.

use std::path::PathBuf;

use clap::Args;

use crate::config::{FileSettings, Untracked};

/// The files that programs may read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Workspace")]
pub struct WorkspaceArgs {
    /// Let the programs of the panel work in a read-only snapshot of this folder [default: `workspace` of the
    /// configuration, else an empty folder]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// What of the folder's files that git does not track is in the snapshot; ignored ones never are [default: exclude]
    #[arg(long, value_name = "RULE", value_enum)]
    pub untracked: Option<Untracked>,
    /// Take no snapshot, whatever the configuration says
    #[arg(long, conflicts_with_all = ["workspace", "untracked"])]
    pub no_workspace: bool,
}

impl WorkspaceArgs {
    /// Adds what these set.
    pub fn apply(&self, settings: &mut FileSettings) {
        if self.workspace.is_some() {
            settings.workspace.clone_from(&self.workspace);
        }
        settings.untracked = self.untracked.or(settings.untracked);
    }
}
