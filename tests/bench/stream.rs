//! A very long answer through one slot, next to a bare loop over the same pipe.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::measure::{medians, run_with_peak, time};
use crate::table::Row;
use crate::world::{World, command, panel, text};

const GIBIBYTE: f64 = 1_073_741_824.0;
const TURNS: usize = 3;

pub(crate) fn rows(scale: f64) -> Vec<Row> {
    let bytes = (GIBIBYTE * scale) as u64;
    // The recording's path must stand in `team.toml`, so it lies in a folder of its own.
    let dir = tempfile::Builder::new().prefix("team-bench-").tempdir().unwrap();
    let (small, large) = (dir.path().join("small"), dir.path().join("large"));
    write_conversation(&small, bytes / 16);
    write_conversation(&large, bytes);

    let (_, small_peak) = through_a_slot(&small);
    let mut large_peak = 0;
    let mut ours = || {
        let (time, peak) = through_a_slot(&large);
        large_peak = peak.max(large_peak);
        time
    };
    let answer = dir.path().join("answer");
    let mut other = || time(|| bare_loop(&large, &answer));
    let [ours, other] = medians(TURNS, [&mut ours, &mut other]);
    let size = format!("{:.0} MiB of stream-json", bytes as f64 / f64::from(1 << 20));
    vec![
        // At least 0.7 of the bare loop's speed.
        Row::ratio(format!("{size} through a slot / bare loop"), ours, other, 1.0 / 0.7),
        // Sixteen times the answer must not need more; 8 MiB is what an allocator's habits may add.
        Row::mebibytes(format!("{size}: memory beyond that of a 16th"), large_peak.saturating_sub(small_peak), 8.0),
    ]
}

fn through_a_slot(file: &Path) -> (std::time::Duration, u64) {
    let keys = [("command", command(&["/bin/cat", text(file)])), ("output", "claude-stream-json".into())];
    let world = World::new(&panel("long", 1, "models", "long", &keys));
    let measured = run_with_peak(&mut world.team(&["run", "input.md"]));
    // Frames are about a seventh longer than their text.
    world.check_answers(1, file.metadata().unwrap().len() * 4 / 5);
    measured
}

/// Read, parse, hash, write: what cannot be left out.
fn bare_loop(file: &Path, answer: &Path) {
    let mut cat = Command::new("/bin/cat").arg(file).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::with_capacity(64 * 1024, cat.stdout.take().unwrap());
    let mut out = BufWriter::with_capacity(64 * 1024, File::create(answer).unwrap());
    let mut hasher = Sha256::new();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).unwrap() > 0 {
        let frame: Value = serde_json::from_slice(&line).unwrap();
        if let Some(text) = frame["message"]["content"][0]["text"].as_str() {
            hasher.update(text);
            out.write_all(text.as_bytes()).unwrap();
        }
        line.clear();
    }
    std::hint::black_box(hasher.finalize());
    out.into_inner().unwrap().sync_all().unwrap();
    assert!(cat.wait().unwrap().success());
}

/// A conversation of about this many bytes, in messages of 4 KiB with escapes and letters of several bytes.
fn write_conversation(file: &Path, bytes: u64) {
    let mut out = BufWriter::new(File::create(file).unwrap());
    let session = "00000000-0000-4000-8000-000000000001";
    let init = serde_json::json!({"type": "system", "subtype": "init", "session_id": session, "tools": []});
    writeln!(out, "{init}").unwrap();
    let text = "A line of an answer, with \"quotes\", a tab\tand élan.\n".repeat(4096 / 53);
    let message = serde_json::json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted",
        "content": [{"type": "text", "text": text}], "stop_reason": null,
        "usage": {"input_tokens": 12, "output_tokens": 9},
    });
    let frame = serde_json::json!({
        "type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": session,
    });
    let frame = format!("{frame}\n");
    for _ in 0..bytes / frame.len() as u64 {
        out.write_all(frame.as_bytes()).unwrap();
    }
    let result = serde_json::json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "", "stop_reason": "end_turn",
        "session_id": session, "num_turns": 1, "usage": {"input_tokens": 12, "output_tokens": 9},
    });
    writeln!(out, "{result}").unwrap();
    out.flush().unwrap();
}
