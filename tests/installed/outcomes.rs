//! The tables of outcomes against the programs themselves, all situations of one as one panel.

use crate::seats::{World, seat};
use crate::support::outcomes::{CLAUDE, CLAUDISH, CODEX, GEMINI, LLM, OPENCODE, Table, check_end};

#[track_caller]
fn ask(table: &Table) {
    let scenarios: Vec<&str> = table.rows.iter().map(|row| row.situation).collect();
    let world = World::new(&[table.program], &scenarios);
    let panel: Vec<String> = scenarios.iter().map(|scenario| seat(table.program, scenario)).collect();
    // Each takes hundreds of megabytes.
    let arguments = ["run", "--retries", "1", "--jobs", "3", "-m", &panel.join(","), "What is the answer?"];
    let (code, said, session) = world.run(&arguments);
    assert_eq!(code, Some(0), "{said}");
    for row in table.rows {
        check_end(&session, &seat(table.program, row.situation), row.end);
    }
}

#[test]
fn claude_ends_as_in_its_table() {
    ask(&CLAUDE);
}

#[test]
fn claudish_ends_as_in_its_table() {
    ask(&CLAUDISH);
}

#[test]
fn codex_ends_as_in_its_table() {
    ask(&CODEX);
}

#[test]
fn gemini_ends_as_in_its_table() {
    ask(&GEMINI);
}

#[test]
fn opencode_ends_as_in_its_table() {
    ask(&OPENCODE);
}

#[test]
fn llm_ends_as_in_its_table() {
    ask(&LLM);
}
