//! `team gc`: removes what is left over, and lists what stays.

use jiff::Timestamp;

use super::args::GcArgs;
use super::context::Context;
use super::panel::temporary_folder;
use crate::engine::FLAT_FOLDER;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::report::{gc_summary, gc_text};
use crate::session::gc::{GcMode, GcOptions, sweep};

/// Sweeps, and prints what became of what.
pub(super) fn gc(args: &GcArgs, context: &Context) -> Result<ExitCode> {
    let config = context.load(context.global.settings())?;
    let sessions = context.cwd.join(&config.settings().sessions_dir);
    let mode = if args.dry_run { GcMode::DryRun } else { GcMode::Remove };
    temporary_folder()?;
    let flat = context.cwd.join(FLAT_FOLDER);
    let options = GcOptions { sessions: &sessions, flat: &flat, mode, older_than: args.older_than };
    let report = sweep(options, Timestamp::now())?;
    if context.global.json {
        context.printer.json(&report)?;
    } else {
        context.printer.document(&gc_text(&report, &sessions, &context.cwd))?;
        context.printer.note(gc_summary(&report));
    }
    let Some(first) = report.failed.first() else { return Ok(ExitCode::DONE) };
    let count = report.failed.len();
    let all = if count == 1 { String::new() } else { format!(" (and {} more)", count - 1) };
    Err(Error::new(ErrorKind::Io, format!("cannot remove `{}`{all}: {}", first.path, first.error))
        .hint("mend what is in the way and run it again; what is gone already stays gone"))
}
