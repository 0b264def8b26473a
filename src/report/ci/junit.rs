//! JUnit XML: one suite with one case for the gate, so that one that passes is not read as one without tests, and one for
//! each finding that a review sustained, those included that a fix has mended.

use quick_junit::{NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::findings::FindingReport;
use super::model::{GateOutcome, GateReport, ReportCommand};
use super::plain::{cut, line, text};
use crate::config::{GateKind, GateSubject};
use crate::report::format::without_controls;

/// The most bytes of the text of a case.
const TEXT_BYTES: usize = 256 * 1024;

/// The most bytes of the text of a finding's case.
const FINDING_BYTES: usize = 16 * 1024;

/// The report as JUnit XML.
///
/// # Errors
/// The writer of XML fails.
pub fn junit(report: &GateReport) -> Result<String, SerializeError> {
    let mut status = match report.outcome {
        GateOutcome::Approved => TestCaseStatus::success(),
        GateOutcome::Unchanged => TestCaseStatus::skipped(),
        GateOutcome::Rejected => TestCaseStatus::non_success(NonSuccessKind::Failure),
        GateOutcome::NoDecision | GateOutcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let text = text(report);
    let text = cut(&text, TEXT_BYTES);
    let approved = report.outcome == GateOutcome::Approved;
    if !approved {
        status.set_message(line(&report.summary, 600)).set_type(report.outcome.as_str()).set_description(text);
    }
    // The same name in every run, so that a host sees one test with a history.
    let subject = report.subject.as_ref().map_or(GateSubject::Diff, |subject| subject.what);
    let name = match (report.command, report.kind, subject) {
        (ReportCommand::Fix, ..) => "repair of the change",
        (_, GateKind::Review, GateSubject::Plan) => "review of the plan",
        (_, GateKind::Review, GateSubject::Diff | GateSubject::Command) => "review of the change",
        (_, GateKind::Vote, GateSubject::Plan) => "vote on the plan",
        (_, GateKind::Vote, GateSubject::Command) => "vote on what the command printed",
        (_, GateKind::Vote, GateSubject::Diff) => "vote on the change",
    };
    let mut case = TestCase::new(name, status);
    case.set_classname(report.command.as_str().replace(' ', "."));
    if approved {
        case.set_system_out(text);
    }
    let mut suite = TestSuite::new(report.command.as_str());
    let mut property = |name: &str, value: &str| {
        suite.add_property(Property::new(name, line(value, 600)));
    };
    property("outcome", report.outcome.as_str());
    property("exit_code", &report.exit_code.to_string());
    if let Some(subject) = &report.subject {
        property("commit", &subject.head);
        property("base", &subject.base);
        property("base_commit", &subject.base_commit);
    }
    if !report.files.is_empty() {
        property("coverage", &report.coverage());
    }
    suite.add_test_case(case);
    for finding in report.sustained().chain(report.mended()) {
        suite.add_test_case(finding_case(report, finding));
    }
    let mut whole = Report::new(report.command.as_str());
    whole.add_test_suite(suite);
    let xml = well_formed(&whole.to_string()?);
    // The published schemas know this attribute at a suite only.
    Ok(match xml.find("<testsuite ") {
        Some(end) => xml[..end].replacen(" skipped=\"0\"", "", 1).replacen(" skipped=\"1\"", "", 1) + &xml[end..],
        None => xml,
    })
}

/// The case of one finding: failed where it is in the way; passed with its words where it is not, or was mended.
fn finding_case(report: &GateReport, finding: &FindingReport) -> TestCase {
    let (path, start, _) = report.place_of(finding);
    let told = without_controls(&finding.told());
    let told = cut(&told, FINDING_BYTES);
    let name = format!("{path}:{start}: {}", line(&finding.title, 200));
    let mut case = if finding.blocking {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(line(&finding.title, 600)).set_type(finding.rule()).set_description(told);
        TestCase::new(line(&name, 600), status)
    } else {
        let mut case = TestCase::new(line(&name, 600), TestCaseStatus::success());
        case.set_system_out(told);
        case
    };
    case.set_classname(format!("team.review.{}", finding.severity));
    case
}

/// `xml` with every character that XML 1.0 knows not, also not as a reference, replaced: one of them, in the words of a
/// model or the name of a file, and no reader takes the file.
fn well_formed(xml: &str) -> String {
    xml.chars().map(|c| if is_xml(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Whether `c` is a `Char` of XML 1.0.
const fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}
