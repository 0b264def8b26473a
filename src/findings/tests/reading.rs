//! Fields of findings, as models write them.

use serde_json::{Value, json};

use super::super::*;

fn read(finding: Value) -> Result<FindingsRead, String> {
    read_findings_below(&json!({"findings": [finding]}).to_string(), &["/mnt/work/"]).map_err(|error| error.to_string())
}

/// A finding with `field` set to `value`.
fn with(field: &str, value: Value) -> Value {
    let mut finding = json!({
        "severity": "low", "action": "no-op", "file": "src/a.rs", "line": 3, "title": "T", "description": "D",
    });
    finding[field] = value;
    finding
}

fn one(finding: Value) -> (Finding, Vec<FindingsNoteKind>) {
    let read = read(finding).unwrap();
    let [finding] = <[Finding; 1]>::try_from(read.findings).unwrap();
    (finding, read.notes.into_iter().map(|note| note.kind).collect())
}

#[test]
fn an_unknown_severity_is_the_worst_and_an_unknown_action_the_strictest() {
    for (word, severity, known) in [
        (json!("HIGH"), Severity::High, true),
        (json!(" **critical** "), Severity::Critical, true),
        (json!("blocker"), Severity::Critical, false),
        (json!("high or low"), Severity::Critical, false),
        (json!("low/medium"), Severity::Critical, false),
        (json!("not low"), Severity::Critical, false),
        (json!(""), Severity::Critical, false),
        (json!(null), Severity::Critical, false),
    ] {
        let (finding, notes) = one(with("severity", word.clone()));
        assert_eq!(finding.severity, severity, "{word}");
        assert_eq!(notes.is_empty(), known, "{word} {notes:?}");
    }
    for (word, action, known) in [
        (json!("auto_fix"), Action::AutoFix, true),
        (json!("AutoFix"), Action::AutoFix, true),
        (json!("No Op"), Action::NoOp, true),
        (json!("ask-user"), Action::AskUser, true),
        (json!("fix"), Action::AskUser, false),
        (json!("auto-fix|no-op"), Action::AskUser, false),
        (json!(null), Action::AskUser, false),
    ] {
        let (finding, notes) = one(with("action", word.clone()));
        assert_eq!(finding.action, action, "{word}");
        assert_eq!(notes.is_empty(), known, "{word} {notes:?}");
    }
}

#[test]
fn what_is_missing_or_of_another_type_is_told_all_at_once_with_its_place() {
    let reply = json!({"findings": [
        {"severity": 3, "title": "T"},
        "a finding",
        {"title": "  ", "description": "D", "line": [1], "file": {"path": "a"}},
        {"title": "T", "description": "D", "evidence": false, "line": 1, "end_line": true},
    ]});
    let told = read_findings(&reply.to_string()).unwrap_err().to_string();
    for problem in [
        "findings[0].severity: expected a string, found a number",
        "findings[0].description: missing or empty",
        "findings[1]: expected an object, found a string",
        "findings[2].title: missing or empty",
        "findings[2].line: expected a whole number, found an array",
        "findings[2].file: expected a string, found an object",
        "findings[3].evidence: expected a string, found a boolean",
        "findings[3].end_line: expected a whole number, found a boolean",
    ] {
        assert!(told.contains(problem), "{problem} in {told}");
    }
    for (whole, problem) in [
        (json!({"findings": null}), "findings: expected an array, found null"),
        (json!({"issues": []}), "the field `findings` is missing"),
        (json!({"findings": {}}), "findings: expected an array, found an object"),
    ] {
        let told = read_findings(&whole.to_string()).unwrap_err().to_string();
        assert!(told.contains(problem), "{problem} in {told}");
    }
    let twice = read_findings(r#"{"findings": [{"title": "T", "severity": "critical", "severity": "info"}]}"#);
    assert!(twice.unwrap_err().to_string().contains("`severity` is there twice"));
}

#[test]
fn more_findings_than_can_be_voted_on_are_refused_and_not_cut() {
    let many = |count| json!({"findings": vec![with("line", json!(1)); count]}).to_string();
    assert_eq!(read_findings(&many(100)).unwrap().findings.len(), 100);
    let told = read_findings(&many(101)).unwrap_err().to_string();
    assert!(told.contains("101 are too many; give the 100 that matter most"), "{told}");
}

#[test]
fn a_path_is_one_inside_of_the_repository_or_none() {
    for (given, path) in [
        ("src/a.rs", Some("src/a.rs")),
        ("./src/./a.rs", Some("src/a.rs")),
        ("src\\win\\a.rs", Some("src/win/a.rs")),
        ("/mnt/work/src/a.rs", Some("src/a.rs")),
        ("/mnt/workshop/a.rs", None),
        ("/mnt/work", None),
        ("/mnt/work/../../etc/passwd", None),
        ("/etc/passwd", None),
        ("../a.rs", None),
        ("src/../../a.rs", None),
        ("src//a.rs", None),
        ("src/", None),
        ("~/.ssh/id", None),
        ("C:\\a.rs", None),
        ("C:/a.rs", None),
        ("https://example.org/a", None),
        ("a\nb", None),
        ("a\u{202e}b", None),
        ("docs/größe 1.md", Some("docs/größe 1.md")),
    ] {
        let (finding, notes) = one(with("file", json!(given)));
        assert_eq!(finding.file.as_deref(), path, "{given}");
        assert_eq!(notes.contains(&FindingsNoteKind::NotAPath), path.is_none(), "{given}");
        if path.is_none() {
            assert_eq!(finding.lines, None, "{given}");
            assert!(finding.description.starts_with("D\n\n(The file was given as: "), "{}", finding.description);
            assert!(!finding.description.contains('\u{202e}'));
        }
    }
    for none in [json!(""), json!(null), json!("  ")] {
        let (finding, notes) = one(with("file", none));
        assert_eq!((finding.file, finding.lines, notes.len()), (None, None, 0));
    }
}

#[test]
fn lines_are_read_in_every_form_and_left_out_where_they_are_none() {
    let lines = |start, end| Lines::new(start, end);
    for (line, end, expected, told) in [
        (json!(3), json!(null), lines(3, 3), true),
        (json!(3), json!(5), lines(3, 5), true),
        (json!(5), json!(3), lines(3, 5), true),
        (json!(3), json!(0), lines(3, 3), true),
        (json!(3.0), json!("5"), lines(3, 5), true),
        (json!("3"), json!(null), lines(3, 3), true),
        (json!("L3-L5"), json!(null), lines(3, 5), true),
        (json!(0), json!(0), None, true),
        (json!(""), json!(null), None, true),
        (json!(null), json!(null), None, true),
        (json!(-3), json!(null), None, false),
        (json!(3.5), json!(null), None, false),
        (json!("three"), json!(null), None, false),
        (json!(4_000_000_000_u64), json!(null), None, false),
        (json!(u64::MAX), json!(null), None, false),
    ] {
        let mut finding = with("line", line.clone());
        finding["end_line"] = end;
        let (finding, notes) = one(finding);
        assert_eq!(finding.lines, expected, "{line}");
        assert_eq!(notes.is_empty(), told, "{line} {notes:?}");
    }
    for (file, path, expected) in [
        ("src/a.rs:12", "src/a.rs", lines(12, 12)),
        ("src/a.rs:12-15", "src/a.rs", lines(12, 15)),
        ("src/a.rs:12:7", "src/a.rs", lines(12, 12)),
        ("src/a:b.rs", "src/a:b.rs", None),
    ] {
        let mut finding = with("file", json!(file));
        finding["line"] = json!(0);
        let (finding, _) = one(finding);
        assert_eq!((finding.file.as_deref(), finding.lines), (Some(path), expected), "{file}");
    }
}

#[test]
fn texts_are_bounded_and_hold_nothing_that_acts_or_hides() {
    let mut finding = with("title", json!("a\u{1b}[2J\nb\u{202e}c"));
    finding["description"] = json!("d\u{0}\r\ne\u{200b}".to_owned() + &"ä".repeat(10_000));
    finding["score"] = json!(9);
    let (finding, notes) = one(finding);
    assert_eq!(finding.title, "a␛[2J b<U+202E>c");
    assert!(finding.description.starts_with("d␀\ne<U+200B>ä") && finding.description.ends_with("ä [...]"));
    assert!(finding.description.chars().count() < 4_100);
    assert_eq!(notes, [FindingsNoteKind::UnknownField, FindingsNoteKind::Shortened]);
    let many: serde_json::Map<String, Value> = (0..5000).map(|n| (format!("x{n}"), json!(1))).collect();
    let mut hostile = with("line", json!(1));
    hostile.as_object_mut().unwrap().extend(many);
    assert_eq!(read(hostile).unwrap().notes.len(), 100);
}

#[test]
fn what_fits_the_schema_is_read_without_a_note() {
    let schema = findings_schema();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let full = |file: &str, line: u32| {
        json!({
            "severity": "medium", "action": "auto-fix", "file": file, "line": line, "end_line": 0, "title": "T",
            "description": "D", "evidence": "", "suggestion": "",
        })
    };
    let reply = json!({"findings": [full("src/a.rs", 4), full("", 0)]});
    assert!(validator.is_valid(&reply));
    let read = read_findings(&reply.to_string()).unwrap();
    assert_eq!((read.findings.len(), read.notes.len()), (2, 0), "{:?}", read.notes);
    for (field, _) in full("a", 1).as_object().unwrap() {
        let mut less = reply.clone();
        less["findings"][0].as_object_mut().unwrap().remove(field);
        assert!(!validator.is_valid(&less), "without {field}");
    }
}
