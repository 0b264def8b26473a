//! Where an output option writes: a file, whose missing folders are made, or with `-` standard output.
//!
//! Links are followed, and a device or a named pipe is written to; only a regular file is replaced.

use std::path::{Path, PathBuf};

use super::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::session::session_around;

/// The name of the report of a session in its folder.
pub(super) const REPORT_FILE: &str = "report.html";

/// Where an output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    /// Standard output.
    Stdout,
    /// This file, absolute.
    File(PathBuf),
}

impl Destination {
    /// What `given` names.
    pub(super) fn of(given: &Path, context: &Context) -> Self {
        if given == Path::new("-") { Self::Stdout } else { Self::File(context.cwd.join(given)) }
    }

    /// Makes the missing folders of a file, and refuses one that cannot be written or would be a part of a session's
    /// record.
    pub(super) fn prepare(&self) -> Result<()> {
        let Self::File(path) = self else { return Ok(()) };
        refuse_records(path)?;
        fs::prepare_output(path).map_err(|error| unwritable(path, error))
    }

    /// Writes `text`.
    pub(super) fn write(&self, text: &str, context: &Context) -> Result<()> {
        match self {
            Self::Stdout => context.printer.document(text),
            Self::File(path) => fs::write_output(path, text.as_bytes())
                .map_err(|error| Error::io(format!("cannot write `{}`", path.display()), error)),
        }
    }
}

/// Refuses a file inside of a session, whose folder holds nothing but its record and the report of it.
fn refuse_records(path: &Path) -> Result<()> {
    let target = fs::output_target(path).map_err(|error| unwritable(path, error))?;
    let Some(session) = session_around(&target) else { return Ok(()) };
    if target == session.root().join(REPORT_FILE) {
        return Ok(());
    }
    Err(Error::usage(format!("the output `{}` lies in the folder of the session `{}`", path.display(), session.name()))
        .hint(format!("nothing but `{REPORT_FILE}` is added to a session: name a file elsewhere")))
}

/// What to say of a file that cannot be written.
pub(super) fn unwritable(path: &Path, error: std::io::Error) -> Error {
    Error::usage(format!("cannot write the output `{}`", path.display()))
        .with_source(error)
        .hint("name a file in a folder that can be written, or `-` for standard output")
}
