//! Each format of reports of every outcome, with hostile text in every place.

use std::path::Path;

use super::*;
use crate::config::{GateKind, GateSubject};
use crate::ids::FormatVersion;

/// What would act somewhere: XML and its illegal characters, workflow commands of both kinds, Markdown, HTML, mentions.
pub(super) const HOSTILE: &str = "x\u{0}\u{8}\u{1b}[31m]]></failure><a b='c'>\"&\r\n::error::boo\n##[add-mask]x %0A::stop-commands::y\n\
    # h\n<script>alert(1)</script> ![i](http://e.example/a) @team #12 fixes #3 https://e.example www.e.example `c` | | \u{202e}z\u{fffe}\u{ffff}w\u{fffd}\u{10ffff}";

pub(super) fn report(outcome: GateOutcome) -> GateReport {
    let file = |path: &str, omitted| SeenFile {
        path: path.to_owned(),
        old_path: None,
        change: ChangeWord::Modified,
        sent_bytes: 10,
        omitted,
        note: Some(HOSTILE.to_owned()),
    };
    let member = |id: &str, vote: Option<&str>| Member {
        id: id.to_owned(),
        model: format!("m{HOSTILE}"),
        vote: vote.map(str::to_owned),
        confidence: Some(8),
        summary: Some(HOSTILE.to_owned()),
    };
    GateReport {
        version: FormatVersion::CURRENT,
        command: ReportCommand::Gate,
        kind: GateKind::Vote,
        outcome,
        exit_code: 1,
        summary: format!("rejected: {HOSTILE}"),
        details: vec![HOSTILE.to_owned()],
        subject: Some(SubjectReport {
            what: GateSubject::Diff,
            name: None,
            base: HOSTILE.to_owned(),
            base_commit: "b".repeat(40),
            merge_base: "c".repeat(40),
            head: "a".repeat(40),
            pull_request_head: None,
        }),
        settings: Vec::new(),
        settings_changed: vec![format!("team.toml{HOSTILE}")],
        files: vec![
            file("logo.png", Some(OmissionReason::Binary)),
            file("src/a b,c:d%\u{e4}.rs", None),
            file(HOSTILE, Some(OmissionReason::TooLarge)),
        ],
        ruling: Some(Ruling {
            decision: "rejected".to_owned(),
            threshold: "majority".to_owned(),
            needed: 2,
            quorum: 2,
            approvals: 1,
            rejections: 2,
            abstentions: 0,
            missing: 0,
            members: vec![member("01", Some("approve")), member("02", Some("reject")), member("03", None)],
            key_issues: vec![Issue { text: HOSTILE.to_owned(), count: 2 }],
        }),
        findings: None,
        fix: None,
        warnings: vec![HOSTILE.to_owned()],
        session: Some(format!("/s/{HOSTILE}").into()),
    }
}

const ALL: [GateOutcome; 5] = [
    GateOutcome::Approved,
    GateOutcome::Unchanged,
    GateOutcome::Rejected,
    GateOutcome::NoDecision,
    GateOutcome::Failed,
];

/// The schema of SARIF that is published.
pub(super) fn sarif_schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/standards/sarif-schema-2.1.0.json");
    // A regular expression of the published file has a bracket too many.
    let schema = fs_err::read_to_string(path).unwrap().replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

#[test]
fn sarif_fits_the_published_schema_in_every_outcome() {
    let schema = sarif_schema();
    for outcome in ALL {
        let sarif = sarif(&report(outcome));
        let wrong: Vec<String> = schema.iter_errors(&sarif).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{outcome:?} {wrong:?}");
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), usize::from(!outcome.passes()), "{outcome:?}");
        if let [result] = results.as_slice() {
            let location = &result["locations"][0]["physicalLocation"];
            assert_eq!(location["artifactLocation"]["uri"], "src/a%20b%2Cc%3Ad%25%C3%A4.rs");
            assert_eq!(location["region"]["startLine"], 1);
        }
    }
}

#[test]
fn a_fingerprint_is_the_same_in_a_later_run_with_other_votes_and_another_commit() {
    let first = report(GateOutcome::Rejected);
    let mut later = first.clone();
    later.summary = "other words".to_owned();
    later.files.reverse();
    later.ruling = None;
    if let Some(subject) = &mut later.subject {
        subject.head = "d".repeat(40);
        subject.base = "other".to_owned();
    }
    let print = |report: &GateReport| sarif(report)["runs"][0]["results"][0]["partialFingerprints"].clone();
    assert_eq!(print(&first), print(&later));
    assert_eq!(code_quality(&first)[0]["fingerprint"], code_quality(&later)[0]["fingerprint"]);
    assert_ne!(print(&first), print(&report(GateOutcome::NoDecision)));
}

#[test]
fn junit_has_one_case_whatever_the_outcome() {
    for (outcome, child) in ALL.into_iter().zip(["<system-out>", "<skipped ", "<failure ", "<error ", "<error "]) {
        let xml = junit(&report(outcome)).unwrap();
        assert_eq!(xml.matches("<testcase ").count(), 1, "{xml}");
        assert!(xml.contains(child), "{outcome:?} {xml}");
        assert!(!xml.chars().any(|c| c.is_control() && c != '\n'), "{xml:?}");
        assert!(!xml.contains(['\u{fffe}', '\u{ffff}']), "they are no characters of XML: {xml}");
        assert!(xml.contains("z\u{fffd}\u{fffd}w\u{fffd}\u{10ffff}"), "what can be read stays: {xml}");
        assert!(!xml.contains("<a b=") && !xml.contains("<script>"), "{xml}");
    }
}

#[test]
fn an_annotation_is_one_line_whose_text_commands_nothing() {
    for outcome in ALL {
        let lines = annotations(&report(outcome));
        for line in &lines {
            assert!(!line.contains(['\n', '\r']), "{line:?}");
            let (head, text) = line[2..].split_once("::").unwrap();
            assert!(["error ", "warning ", "notice "].iter().any(|kind| head.starts_with(kind)), "{line}");
            // Only the first command of a line counts, so what follows in its text is harmless.
            assert!(!head.contains("::") && !text.starts_with("::"), "{line}");
        }
    }
    let line = &annotations(&report(GateOutcome::Rejected))[0];
    assert!(
        line.starts_with("::error file=src/a b%2Cc%3Ad%25\u{e4}.rs,line=1,title=team gate%3A rejected%3A"),
        "{line}"
    );
}

#[test]
fn no_more_than_ten_annotations_of_a_kind_are_made() {
    let mut report = report(GateOutcome::NoDecision);
    report.files = vec![report.files[0].clone(); 40];
    let lines = annotations(&report);
    let warnings = lines.iter().filter(|line| line.starts_with("::warning ")).count();
    assert_eq!((lines.len(), warnings), (10, 10), "{lines:#?}");
    assert!(lines[9].contains("33 more"), "{}", lines[9]);
}

#[test]
fn markdown_holds_no_markup_mention_or_link_of_a_model() {
    for outcome in ALL {
        let text = markdown(&report(outcome));
        // What is escaped is left out.
        let bare = text.replace("\\<", "").replace("\\!", "").replace("\\`", "");
        assert!(!bare.contains("<script") && !bare.contains("![i") && !bare.contains("`c`"), "{text}");
        for acting in ["@team", "#12", "://e.", "www.e", "\u{202e}", "\u{1b}", "\r"] {
            assert!(!text.contains(acting), "{acting} in {text}");
        }
        assert!(text.starts_with("<!-- team gate -->\n"));
        let bad = text.lines().any(|line| line.starts_with("::") || line.starts_with("# "));
        assert!(!bad && !text.contains("##["), "{text}");
    }
}

#[test]
fn a_summary_stays_within_what_the_file_has_room_for() {
    let report = report(GateOutcome::Rejected);
    let whole = markdown(&report);
    assert_eq!(step_summary(&report, 0), whole);
    let cut = step_summary(&report, 1024 * 1024 - 500);
    assert!(cut.len() <= 500 && cut.ends_with("(cut)\n"), "{}", cut.len());
    assert_eq!(step_summary(&report, 1024 * 1024), "");
    assert_eq!(step_summary(&report, u64::MAX), "");
}

#[test]
fn a_report_of_many_long_texts_stays_within_the_limits_of_its_readers() {
    let mut report = report(GateOutcome::Rejected);
    let issue = Issue { text: "\u{e4}".repeat(100_000), count: 1 };
    let ruling = report.ruling.as_mut().unwrap();
    ruling.key_issues = vec![issue; 500];
    report.files = vec![report.files[1].clone(); 5000];
    assert!(markdown(&report).chars().count() < 65_536);
    assert!(sarif(&report).to_string().len() < 200_000);
    assert!(annotations(&report).iter().all(|line| line.len() < 20_000));
}
