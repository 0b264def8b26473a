//! Many short programs at once, next to `xargs -P`.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::measure::{medians, run, run_with_peak};
use crate::table::Row;
use crate::world::{AGENT, World, command, panel};

const SLOTS: usize = 64;
const TURNS: usize = 9;

pub(crate) fn rows(_scale: f64) -> Vec<Row> {
    let steps = ["sleep 200", "print an answer"];
    let world =
        World::new(&panel("slow", SLOTS, "models", "slow", &[("command", command(&[AGENT, steps[0], steps[1]]))]));
    let numbers: String = (0..SLOTS).map(|n| format!("{n}\n")).collect();
    let list = world.path("numbers");
    std::fs::write(&list, numbers).unwrap();
    let mut other = || {
        let mut xargs = Command::new("xargs");
        // `-I` takes a line per call; the name in it appears nowhere in the steps.
        xargs.arg("-a").arg(&list).args(["-P", "64", "-I", "@@", AGENT, steps[0], steps[1]]).stdout(Stdio::null());
        run(&mut xargs)
    };
    let (mut peak_contained, mut peak_bare) = (0, 0);
    let mut contained = || panel_of_64(&world, &mut peak_contained, |_| {});
    let mut bare = || {
        panel_of_64(&world, &mut peak_bare, |team| {
            team.env("TEAM_ISOLATION", "none");
        })
    };
    let [other, contained, bare] = medians(TURNS, [&mut other, &mut contained, &mut bare]);
    let name = "64 process slots of 200 ms";
    vec![
        Row::ratio(format!("{name}, isolated / `xargs -P64`"), contained, other, 2.0),
        Row::ratio(format!("{name}, not isolated / `xargs -P64`"), bare, other, 1.6),
        Row::mebibytes(format!("{name}: peak memory of `team`"), peak_contained.max(peak_bare), 40.0),
    ]
}

fn panel_of_64(world: &World, peak: &mut u64, prepare: impl FnOnce(&mut Command)) -> Duration {
    world.forget_sessions();
    let mut team = world.team(&["run", "input.md"]);
    prepare(&mut team);
    let (time, bytes) = run_with_peak(&mut team);
    world.check_answers(SLOTS, 1);
    *peak = bytes.max(*peak);
    time
}
