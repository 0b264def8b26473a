//! What the program costs next to doing the same by hand: both sides of each ratio in one run.
//!
//!     cargo bench --bench ratios [-- PART-OF-A-GROUP'S-NAME]
//!
//! Prints one row per bar. `TEAM_BENCH_SCALE=0.02` makes the large inputs smaller: the rows then show that they run, and
//! being over a bar is no error. At full size it is: the exit code is 1.
//!
//! A figure is worth something only from a machine that does nothing else: build first (`cargo bench --no-run`), end
//! builds, tests and browsers, keep a laptop on its charger, and wait until the load in `/proc/loadavg` is well below
//! one. The sides of a row take turns, so that a passing disturbance meets all of them; one that lasts does not. A row
//! that is over is measured again by itself, with a part of its group's name, before it is believed. The temporary
//! folder should be on a disk or in memory that others do not fill: removing many files elsewhere slows new ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program of its own; a failure ends it"
)]

mod http;
mod judging;
mod measure;
mod processes;
mod resume;
mod startup;
mod stats;
mod stream;
mod table;
mod tally;
mod verify;
mod world;

use std::process::ExitCode;

use table::Row;

/// Measures at a scale.
type Group = fn(f64) -> Vec<Row>;

fn main() -> ExitCode {
    let scale: f64 = std::env::var("TEAM_BENCH_SCALE").map_or(1.0, |text| text.parse().expect("TEAM_BENCH_SCALE"));
    // Cargo itself adds `--bench`.
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    measure::raise_descriptor_limit();
    let groups: [(&str, Group); 9] = [
        ("startup", startup::rows),
        ("processes", processes::rows),
        ("stream", stream::rows),
        ("http", http::rows),
        ("judging", judging::rows),
        ("tally", tally::rows),
        ("verify", verify::rows),
        ("resume", resume::rows),
        ("stats", stats::rows),
    ];
    table::head();
    let mut over = false;
    for (_, rows) in groups.into_iter().filter(|(name, _)| name.contains(&only)) {
        for row in rows(scale) {
            println!("{row}");
            over |= row.is_over();
        }
    }
    ExitCode::from(u8::from(over && scale >= 1.0))
}
