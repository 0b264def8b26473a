//! How far a session has got with its workspace, and taking the snapshot.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::plan::WorkspacePlan;
use super::super::record::record;
use super::super::services::Services;
use super::select::{Selection, WorkspaceRequest};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::fs::{self, Tree};
use crate::ids::Sha256Hash;
use crate::runner::{Control, Observer, Workspace};
use crate::session::{Event, Layout, Record, Session};

/// How far a session has got with its workspace.
pub(in super::super) enum Stand {
    /// It has none, or needs it no more.
    Nothing,
    /// It is to be taken of these files.
    Selected(Box<Selection>),
    /// It was to be taken when the session was cut off; nobody has seen it.
    Planned(WorkspacePlan),
    /// It was taken.
    Taken {
        tree: Tree,
        /// The hash on record.
        recorded: Sha256Hash,
    },
}

impl Stand {
    /// Where the session of `layout` stands by its plan and its record. What is not as it was recorded is added to
    /// `drift`.
    ///
    /// # Errors
    /// The snapshot is not there any more.
    pub(in super::super) fn of(
        plan: Option<&WorkspacePlan>,
        records: &[Record],
        layout: &Layout,
        drift: &mut Vec<String>,
    ) -> Result<Self> {
        let recorded = records.iter().rev().find_map(|record| match &record.event {
            Event::WorkspaceTaken { tree, .. } => Some((*tree, record.at)),
            _ => None,
        });
        let folder = layout.workspace();
        match (plan, recorded) {
            (_, Some((recorded, at))) => {
                let tree = Tree::read(&folder).map_err(|error| {
                    Error::new(ErrorKind::Integrity, format!("the snapshot that slots are to work in is lost: {error}"))
                        .hint(format!("put `{}` back, or run again", folder.display()))
                })?;
                if tree.hash() != recorded {
                    let first = fs::touched_since(&folder, at, &layout.manifest());
                    let first = first.map(|first| format!(": {}", first.told(&folder))).unwrap_or_default();
                    drift.push(format!("`{}` was changed{first}", folder.display()));
                }
                Ok(Self::Taken { tree, recorded })
            }
            (Some(plan), None) => Ok(Self::Planned(plan.clone())),
            (None, None) => Ok(Self::Nothing),
        }
    }

    /// The same with the files looked up where that is still to be done.
    ///
    /// # Errors
    /// The folder cannot be taken now.
    pub(in super::super) async fn selected(self, layout: &Layout, services: &Services) -> Result<Self> {
        match self {
            Self::Planned(plan) => Ok(Self::Selected(Box::new(planned(&plan, layout, services).await?))),
            other => Ok(other),
        }
    }
}

/// The files of a snapshot that was to be taken when the session was cut off.
async fn planned(plan: &WorkspacePlan, layout: &Layout, services: &Services) -> Result<Selection> {
    let Some(dir) = plan.dir() else {
        return Err(Error::usage("the folder of the workspace has no name that could be recorded")
            .hint("nobody was asked yet: run again"));
    };
    let sessions: Vec<PathBuf> =
        services.sessions().iter().cloned().chain(layout.root().parent().map(Path::to_owned)).collect();
    let request = WorkspaceRequest { dir, untracked: plan.untracked, sessions: &sessions };
    Selection::of(request).await.map_err(|error| {
        // Whoever resumes gave no folder: what they can do is another thing than for whoever runs.
        let why = error.to_string();
        let why = why.strip_prefix("`--workspace`: ").unwrap_or(&why);
        Error::new(error.kind(), format!("the workspace cannot be taken: {why}"))
            .hint(format!("put `{}` back as it was and resume, or run again: nobody was asked yet", dir.display()))
    })
}

/// The snapshot that slots of `session` work in, taken if that was not done. `None` also where a stop was asked for while
/// it was taken, which `control` then says.
pub(in super::super) async fn ready(
    session: &mut Session,
    stand: &Stand,
    services: &Services,
    control: &mut Control,
    observer: &mut dyn Observer,
) -> Result<Option<Arc<Workspace>>> {
    let layout = session.layout().clone();
    let folder = layout.workspace();
    let tree = match stand {
        Stand::Nothing => return Ok(None),
        Stand::Taken { tree, recorded } => {
            if tree.hash() != *recorded {
                note(session, tree, observer)?;
            }
            Some(tree.clone())
        }
        Stand::Selected(selection) => take(session, selection, control, observer).await?,
        Stand::Planned(plan) => {
            let selection = planned(plan, &layout, services).await?;
            take(session, &selection, control, observer).await?
        }
    };
    Ok(tree.map(|tree| Arc::new(Workspace::new(folder, tree))))
}

/// The same for who has selected the files, in a session of a pipeline.
pub(crate) async fn take_selection(
    session: &mut Session,
    selection: &Selection,
    control: &mut Control,
    observer: &mut dyn Observer,
) -> Result<Option<Tree>> {
    take(session, selection, control, observer).await
}

/// Makes what was written into `.workspace.part/` the snapshot that programs work in, and records it. One that there was
/// before is replaced.
pub(crate) async fn publish_snapshot(session: &mut Session, observer: &mut dyn Observer) -> Result<Tree> {
    let layout = session.layout().clone();
    let taken = tokio::task::spawn_blocking(move || {
        fs::remove_dir_all(&layout.workspace())?;
        published(&layout).inspect_err(|_| {
            fs::remove_dir_all(&layout.workspace_part()).ok();
            fs::remove_dir_all(&layout.workspace()).ok();
        })
    });
    let taken = taken.await.map_err(|error| Error::internal(format!("the snapshot was not taken: {error}")))?;
    let tree = taken.map_err(|error| Error::io("cannot take the snapshot of the workspace", error))?;
    fault::reach(Point::WorkspaceNamed);
    note(session, &tree, observer)?;
    fault::reach(Point::WorkspaceRecorded);
    Ok(tree)
}

/// Takes the snapshot. What a process that died left of it is replaced: nobody has seen it. Where a stop is asked for or
/// something goes wrong, nothing of it is left.
async fn take(
    session: &mut Session,
    selection: &Selection,
    control: &mut Control,
    observer: &mut dyn Observer,
) -> Result<Option<Tree>> {
    let layout = session.layout().clone();
    let stop = Arc::new(AtomicBool::new(false));
    let (root, paths, place, stopped) =
        (selection.root.clone(), selection.paths.clone(), layout.clone(), Arc::clone(&stop));
    // Off the workers: there may be a gigabyte of it.
    let mut taking = tokio::task::spawn_blocking(move || copied(&root, &paths, &place, &stopped));
    let taken = match control.or_stop(&mut taking).await {
        Some(taken) => taken,
        None => {
            stop.store(true, Ordering::Relaxed);
            taking.await
        }
    };
    let taken = taken.map_err(|error| Error::internal(format!("the snapshot was not taken: {error}")))?;
    if stop.load(Ordering::Relaxed) {
        fs::remove_dir_all(&layout.workspace())?;
        return Ok(None);
    }
    let tree = taken.map_err(|error| Error::io("cannot take the snapshot of the workspace", error))?;
    fault::reach(Point::WorkspaceNamed);
    note(session, &tree, observer)?;
    fault::reach(Point::WorkspaceRecorded);
    Ok(Some(tree))
}

/// Copies `paths` of the folder `root` to where the session of `layout` has its workspace.
fn copied(root: &Path, paths: &[PathBuf], layout: &Layout, stop: &AtomicBool) -> std::io::Result<Tree> {
    let (part, folder) = (layout.workspace_part(), layout.workspace());
    fs::remove_dir_all(&part)?;
    fs::remove_dir_all(&folder)?;
    let taken = fs::copy_paths(root, &part, paths.iter().map(PathBuf::as_path), stop).and_then(|()| published(layout));
    taken.inspect_err(|_| {
        fs::remove_dir_all(&part).ok();
        fs::remove_dir_all(&folder).ok();
    })
}

/// Gives what was copied its name.
fn published(layout: &Layout) -> std::io::Result<Tree> {
    let (part, folder) = (layout.workspace_part(), layout.workspace());
    fault::reach(Point::WorkspaceCopied);
    fs::sync_file_system(&part)?;
    fs::publish(&part, &folder)?;
    Tree::read(&folder)
}

/// Puts the snapshot on record.
fn note(session: &mut Session, tree: &Tree, observer: &mut dyn Observer) -> Result<()> {
    let event = Event::WorkspaceTaken { tree: tree.hash(), files: tree.files(), bytes: tree.bytes() };
    record(session.panel_mut(), event, observer)?;
    Ok(session.panel_mut().settle()?)
}
