//! Many short programs at once, next to `xargs -P`, and what isolation adds to the start of one.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::measure::{Side, medians, run, run_with_peak};
use crate::table::Row;
use crate::world::{AGENT, World, command, panel};

const SLOTS: usize = 64;
const TURNS: usize = 9;

/// Slots that are started one after the other, so that a run's own beginning and end hardly count.
const IN_A_ROW: usize = 16;

/// More turns than elsewhere: a few milliseconds are to be told from the noise of a machine.
const TURNS_OF_STARTS: usize = 21;

pub(crate) fn rows(_scale: f64) -> Vec<Row> {
    let mut rows = at_once();
    rows.extend(starts());
    rows
}

fn at_once() -> Vec<Row> {
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
    let mut bare = || panel_of_64(&world, &mut peak_bare, not_isolated);
    let [other, contained, bare] = medians(TURNS, [&mut other, &mut contained, &mut bare]);
    let name = "64 process slots of 200 ms";
    vec![
        Row::ratio(format!("{name}, isolated / `xargs -P64`"), contained, other, 2.0),
        Row::ratio(format!("{name}, not isolated / `xargs -P64`"), bare, other, 1.6),
        Row::mebibytes(format!("{name}: peak memory of `team`"), peak_contained.max(peak_bare), 40.0),
    ]
}

/// What isolation adds to a slot: its share of a run of many, one at a time, and a whole run of one, in which the
/// self-test counts as well.
fn starts() -> Vec<Row> {
    let settings = [("command", command(&[AGENT, "print an answer"]))];
    let many = World::new(&panel("short", IN_A_ROW, "models", "short", &settings));
    let one = World::new(&panel("short", 1, "models", "short", &settings));
    let mut isolated = || in_a_row(&many, IN_A_ROW, |_| {});
    let mut bare = || in_a_row(&many, IN_A_ROW, not_isolated);
    let mut isolated_run = || in_a_row(&one, 1, |_| {});
    let mut bare_run = || in_a_row(&one, 1, not_isolated);
    let sides: [Side<'_>; 4] = [&mut isolated, &mut bare, &mut isolated_run, &mut bare_run];
    let [isolated, bare, isolated_run, bare_run] = medians(TURNS_OF_STARTS, sides);
    let name = "isolated, and not";
    vec![
        Row::added(format!("a slot, {name}"), isolated, bare, 15),
        Row::information(format!("a run of one slot with its self-test, {name}"), isolated_run, bare_run),
    ]
}

/// The time of one slot of `slots`, which are asked one after the other.
fn in_a_row(world: &World, slots: usize, prepare: impl FnOnce(&mut Command)) -> Duration {
    world.forget_sessions();
    let mut team = world.team(&["run", "--jobs", "1", "input.md"]);
    prepare(&mut team);
    let time = run(&mut team);
    world.check_answers(slots, 1);
    time / u32::try_from(slots).unwrap()
}

fn not_isolated(team: &mut Command) {
    team.env("TEAM_ISOLATION", "none");
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
