//! What `team gc` says to people.

use std::fmt::Write;
use std::path::Path;

use super::format::{bytes, without_controls};
use super::tables::table;
use crate::session::gc::{GcReport, KeptReason, LeftOver};

/// A line for each thing; closed sessions that simply stay are counted in one.
#[must_use]
pub fn gc_text(report: &GcReport, sessions: &Path, cwd: &Path) -> String {
    let shown = |path: &str| {
        let path = Path::new(path).strip_prefix(cwd).unwrap_or(Path::new(path));
        without_controls(&path.display().to_string())
    };
    let removed = if report.dry_run { "would remove" } else { "removed" };
    let mut rows: Vec<[String; 4]> = Vec::new();
    for gone in &report.removed {
        rows.push([removed.to_owned(), bytes(gone.bytes), shown(&gone.path), what_it_was(gone.what).to_owned()]);
    }
    for failed in &report.failed {
        let what = format!("{}: {}", what_it_was(failed.what), without_controls(&failed.error));
        rows.push(["not removed".to_owned(), String::new(), shown(&failed.path), what]);
    }
    let (closed, told): (Vec<_>, Vec<_>) = report.kept.iter().partition(|kept| kept.reason == KeptReason::HoldsAnswers);
    for kept in told {
        rows.push(["kept".to_owned(), String::new(), shown(&kept.path), without_controls(&kept.detail)]);
    }
    if !closed.is_empty() {
        let ended = if closed.len() == 1 { "1 session" } else { &format!("{} sessions", closed.len()) };
        let folder = shown(&sessions.display().to_string());
        let what = format!("{ended} with answers and their record: remove by hand what nobody needs");
        rows.push(["kept".to_owned(), String::new(), folder, what]);
    }
    let mut text = String::new();
    for line in table(&rows) {
        // Writing to a string cannot fail.
        writeln!(text, "{}", line.trim_end()).ok();
    }
    text
}

/// The last line.
#[must_use]
pub fn gc_summary(report: &GcReport) -> String {
    let total = bytes(report.removed.iter().map(|gone| gone.bytes).sum());
    match (report.removed.len(), report.dry_run) {
        (0, _) => "nothing to remove".to_owned(),
        (count, true) => format!("would remove {count} ({total}); nothing was changed"),
        (count, false) => format!("removed {count} ({total})"),
    }
}

const fn what_it_was(what: LeftOver) -> &'static str {
    match what {
        LeftOver::ProcessFolder => "temporary folder of a process that is gone",
        LeftOver::UnfinishedFile => "was being written when its writer died",
        LeftOver::UnmadeSession => "a session that never began",
        LeftOver::Scratch => "what programs left in a closed session",
        LeftOver::TemporarySession => "temporary session",
        LeftOver::Session => "session",
    }
}
