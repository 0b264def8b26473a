//! `team report --text`.

use unicode_width::UnicodeWidthStr;

use super::{judged, panel};
use crate::support::{TestEnv, finish, run_and_judge};

#[test]
fn the_text_tells_the_same_without_colour_or_control_characters() {
    let (env, session) = judged();
    let (text, err) = finish(&env, &["report", "--text"], 0);
    assert_eq!(err, "");
    assert!(!session.has("report.html"), "nothing is written");
    for part in
        ["Ranking", "Judges", "Answers", "Time line", "Failures", "Integrity", "Task", "Verified", "nonzero_exit"]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    for name in ["kiwi", "plum", "sloe", "dead"] {
        assert!(text.contains(name), "{name}");
    }
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
}

#[test]
fn no_line_is_wider_than_its_terminal() {
    let env = TestEnv::with(&panel().agent("fig", &["answer \\xe6\\x97\\xa5\\xe6\\x9c\\xac long-word-without-any-blank-that-goes-on-and-on-and-on-for-more-than-forty-columns"]).panel(&["kiwi", "plum", "fig", "dead"]));
    run_and_judge(&env, &[], 0);
    for columns in [40, 80, 200] {
        let mut terminal = env.terminal(columns, 500);
        // What is typed is on the screen too, and must not be what is waited for.
        terminal.press("team report --text; echo the-end-''of-it\n");
        terminal.wait_for("the-end-of-it");
        let lines = terminal.lines();
        // A line that was too wide would go on in the next row: the rules below headings stay whole.
        for heading in ["Ranking", "Answers", "Time line", "Integrity"] {
            let at = lines.iter().position(|line| line.trim_end() == heading);
            let at = at.unwrap_or_else(|| panic!("{columns}: no {heading} in {lines:#?}"));
            assert_eq!(lines[at + 1].trim_end(), "-".repeat(heading.len()), "{columns}");
        }
        assert!(!terminal.has_colours());
        terminal.leave();
    }
}

#[test]
fn text_goes_into_a_file_too() {
    let (env, _session) = judged();
    let (out, _) = finish(&env, &["report", "--text", "-o", "report.txt"], 0);
    assert_eq!(out.trim_end(), env.path("report.txt").to_str().unwrap());
    let text = std::fs::read_to_string(env.path("report.txt")).unwrap();
    assert!(text.contains("Ranking"), "{text}");
}
