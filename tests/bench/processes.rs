//! Many short programs at once, next to `xargs -P`.

use std::process::{Command, Stdio};

use crate::measure::{median, run, run_with_peak};
use crate::table::Row;
use crate::world::{AGENT, World, command, panel};

const SLOTS: usize = 64;
const RUNS: usize = 5;

pub(crate) fn rows(_scale: f64) -> Vec<Row> {
    let steps = ["sleep 200", "print an answer"];
    let world =
        World::new(&panel("slow", SLOTS, "models", "slow", &[("command", command(&[AGENT, steps[0], steps[1]]))]));
    let numbers: String = (0..SLOTS).map(|n| format!("{n}\n")).collect();
    let list = world.path("numbers");
    std::fs::write(&list, numbers).unwrap();
    let other = median(RUNS, || {
        let mut xargs = Command::new("xargs");
        // `-I` takes a line per call; the name in it appears nowhere in the steps.
        xargs.arg("-a").arg(&list).args(["-P", "64", "-I", "@@", AGENT, steps[0], steps[1]]).stdout(Stdio::null());
        run(&mut xargs)
    });
    let mut peak = 0;
    let ours = median(RUNS, || {
        world.forget_sessions();
        let (time, bytes) = run_with_peak(&mut world.team(&["run", "input.md"]));
        world.check_answers(SLOTS, 1);
        peak = peak.max(bytes);
        time
    });
    vec![
        // Each slot runs contained, so the bar is the one with isolation.
        Row::ratio("64 process slots of 200 ms / `xargs -P64`", ours, other, 2.0),
        Row::mebibytes("64 process slots of 200 ms: peak memory of `team`", peak, 40.0),
    ]
}
