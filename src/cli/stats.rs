//! `team stats`: what many sessions say about the models that took part.

use jiff::Timestamp;

use super::args::{Moment, StatsArgs};
use super::context::Context;
use crate::error::{Error, ExitCode, Result};
use crate::report::stats::{Stats, Wanted, gather, stats_csv, stats_text};

/// Reads folders and prints what they come to. Writes nothing.
pub(super) fn stats(args: &StatsArgs, context: &Context) -> Result<ExitCode> {
    if args.csv && context.global.json {
        return Err(Error::usage("`--csv` and `--json` exclude each other").hint("leave one of them out"));
    }
    let now = Timestamp::now();
    let bound = |moment: Option<Moment>, bound: fn(Moment, Timestamp) -> Option<Timestamp>| {
        let beyond = || Error::usage("the time is beyond the calendar");
        moment.map(|moment| bound(moment, now).ok_or_else(beyond)).transpose()
    };
    let wanted = Wanted {
        since: bound(args.since, Moment::begin)?,
        until: bound(args.until, Moment::end)?,
        context: args.context.clone(),
        by: args.by,
    };
    let folders = if args.folders.is_empty() {
        let config = context.load(context.global.settings())?;
        let base = config.settings().sessions_dir.clone();
        // Where nothing was run yet there is nothing to count.
        match base.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            _ => vec![base],
        }
    } else {
        args.folders.iter().map(|folder| context.cwd.join(folder)).collect()
    };
    let stats = Stats::count(&gather(&folders, &wanted)?, &wanted);
    match (context.global.json, args.csv) {
        (true, _) => context.printer.json(&stats)?,
        (false, true) => context.printer.document(&stats_csv(&stats))?,
        (false, false) => context.printer.document(&stats_text(&stats, context.printer.data_columns()))?,
    }
    Ok(ExitCode::DONE)
}
