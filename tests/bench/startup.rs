//! How long the program takes to say something, next to a program that does nothing.

use std::process::Command;

use crate::measure::{medians, run};
use crate::table::Row;
use crate::world::{World, command, panel, text};

const TURNS: usize = 101;

pub(crate) fn rows(_scale: f64) -> Vec<Row> {
    let world = World::new(&panel("one", 100, "models", "one", &[("command", command(&["/bin/echo", "an answer"]))]));
    run(&mut world.team(&["run", "input.md"]));
    world.check_answers(100, 1);
    let session = world.session();
    let mut nothing = || run(&mut Command::new("/bin/true"));
    let mut version = || run(&mut world.team(&["--version"]));
    let mut status = || run(&mut world.team(&["status", text(&session)]));
    let [nothing, version, status] = medians(TURNS, [&mut nothing, &mut version, &mut status]);
    vec![
        Row::ratio("`team --version` / `/bin/true`", version, nothing, 2.0),
        Row::ratio("`team status` on 100 slots / `/bin/true`", status, nothing, 5.0),
    ]
}
