//! Checking a session with a very long answer, next to a bare SHA-256 of the same files.

use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::measure::{medians, run_with_peak, time};
use crate::table::Row;
use crate::world::{World, command, panel, text};

const GIBIBYTE: f64 = 1_073_741_824.0;
const TURNS: usize = 5;

pub(crate) fn rows(scale: f64) -> Vec<Row> {
    // A smaller one is checked faster than its memory can be looked at.
    let bytes = ((GIBIBYTE * scale) as u64).max(64 << 20);
    let (small, large) = (session_of(bytes / 16), session_of(bytes));
    let (_, small_peak) = verify(&small);
    let mut large_peak = 0;
    let mut ours = || {
        let (time, peak) = verify(&large);
        large_peak = peak.max(large_peak);
        time
    };
    let files = files(&large.session());
    let mut other = || time(|| files.iter().for_each(|file| bare_hash(file)));
    let [ours, other] = medians(TURNS, [&mut ours, &mut other]);
    let size = format!("an answer of {:.0} MiB", bytes as f64 / f64::from(1 << 20));
    vec![
        // At least half of the bare hash's speed.
        Row::ratio(format!("`team verify` on {size} / bare SHA-256"), ours, other, 2.0),
        // Sixteen times the answer must not need more; 8 MiB is what an allocator's habits may add.
        Row::mebibytes(
            format!("`team verify`, {size}: memory beyond that of a 16th"),
            large_peak.saturating_sub(small_peak),
            8.0,
        ),
    ]
}

/// A session of one slot whose answer has this many bytes.
fn session_of(bytes: u64) -> World {
    let dir = tempfile::Builder::new().prefix("team-bench-").tempdir().unwrap();
    let answer = dir.path().join("answer");
    let mut out = BufWriter::new(std::fs::File::create(&answer).unwrap());
    let line = format!("{}\n", "An answer's line with some text in it.".repeat(26));
    for _ in 0..bytes / line.len() as u64 {
        out.write_all(line.as_bytes()).unwrap();
    }
    out.into_inner().unwrap().sync_all().unwrap();
    let world = World::new(&panel("long", 1, "models", "long", &[("command", command(&["/bin/cat", text(&answer)]))]));
    run_with_peak(&mut world.team(&["run", "input.md"]));
    world.check_answers(1, bytes * 9 / 10);
    world
}

fn verify(world: &World) -> (Duration, u64) {
    run_with_peak(&mut world.team(&["verify", text(&world.session())]))
}

/// Every file below `dir`.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn bare_hash(file: &Path) {
    let mut file = std::fs::File::open(file).unwrap();
    let mut buffer = vec![0; 256 * 1024];
    let mut hash = Sha256::new();
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    std::hint::black_box(hash.finalize());
}
