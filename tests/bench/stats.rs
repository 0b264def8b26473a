//! Counting over many sessions.

use std::path::Path;

use toml::{Table, Value};

use crate::measure::{medians, time};
use crate::table::Row;
use crate::world::{AGENT, World, command, text};

const SESSIONS: usize = 2000;
const SEATS: usize = 5;
const TURNS: usize = 5;

pub(crate) fn rows(scale: f64) -> Vec<Row> {
    let count = ((SESSIONS as f64 * scale) as usize).max(20);
    let world = judged();
    let many = world.path("many");
    copies(&world.session(), &many, count);
    let mut ours = || {
        time(|| {
            let output = world.team(&["stats", "--json", text(&many)]).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            assert!(printed.contains(&format!("\"sessions\": {count},")), "{printed}");
        })
    };
    let [ours] = medians(TURNS, [&mut ours]);
    vec![Row::time(format!("`team stats` on {count} sessions of {SEATS} slots and {SEATS} judges"), ours)]
}

/// A world with one session whose panel judged itself.
fn judged() -> World {
    let names: Vec<String> = (0..SEATS).map(|number| format!("m{number}")).collect();
    let models = names.iter().map(|name| {
        let steps = command(&[AGENT, &format!("answer {}", "An answer. ".repeat(200)), "vote approve"]);
        (name.clone(), Value::Table(Table::from_iter([("command".to_owned(), steps)])))
    });
    let config = Table::from_iter([
        ("panel".to_owned(), Value::Array(names.iter().cloned().map(Value::from).collect())),
        ("models".to_owned(), Value::Table(models.collect())),
    ]);
    let world = World::new(&config);
    let output = world.team(&["run-and-judge", "input.md"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    world
}

/// Sessions that differ in their ids only.
fn copies(session: &Path, to: &Path, count: usize) {
    let id = session.file_name().unwrap().to_str().unwrap();
    for number in 0..count {
        let copy = to.join(format!("{id}-{number}"));
        copy_files(session, &copy);
        let meta = std::fs::read_to_string(session.join("session-meta.json")).unwrap();
        let meta = meta.replace(&format!("\"{id}\""), &format!("\"{id}-{number}\""));
        std::fs::write(copy.join("session-meta.json"), meta).unwrap();
    }
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_files(&path, &copy)
        } else {
            let _ = std::fs::copy(&path, &copy).unwrap();
        }
    }
}
