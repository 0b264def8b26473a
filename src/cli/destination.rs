//! Where an output option writes: a file, whose missing folders are made, or with `-` standard output.

use std::path::{Path, PathBuf};

use super::context::Context;
use crate::error::{Error, Result};
use crate::fs;

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

    /// Makes the missing folders of a file, and refuses one that cannot be written.
    pub(super) fn prepare(&self) -> Result<()> {
        let Self::File(path) = self else { return Ok(()) };
        fs::prepare_replace(path).map_err(|error| unwritable(path, error))
    }

    /// Writes `text`.
    pub(super) fn write(&self, text: &str, context: &Context) -> Result<()> {
        match self {
            Self::Stdout => context.printer.document(text),
            Self::File(path) => fs::replace(path, text.as_bytes())
                .map_err(|error| Error::io(format!("cannot write `{}`", path.display()), error)),
        }
    }
}

/// What to say of a file that cannot be written.
pub(super) fn unwritable(path: &Path, error: std::io::Error) -> Error {
    Error::usage(format!("cannot write the output `{}`", path.display()))
        .with_source(error)
        .hint("name a file in a folder that can be written, or `-` for standard output")
}
