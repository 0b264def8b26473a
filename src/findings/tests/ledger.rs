//! The ledger: what may follow what, what is on disk, and what is told of a damaged one.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::*;
use super::{finding, slot};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn id(number: u32) -> FindingId {
    format!("F{number:02}").parse().unwrap()
}

fn panel(slots: &[u16]) -> Witness {
    Witness::Panel { folder: "reviews/impl-review".to_owned(), slots: slots.iter().map(|n| slot(*n)).collect() }
}

fn raised(number: u32, round: u32) -> LedgerEntry {
    let content = finding(&format!("Title {number}"), "D");
    LedgerEntry::Raised { finding: id(number), round, by: panel(&[1]), content, caused_by: None }
}

fn voted(number: u32, sustain: u32, reject: u32) -> LedgerEntry {
    let tally = FindingTally { panel: 3, raised: 1, sustain, reject, ask: 0 };
    let vote = |n, verdict| LedgerVote { judge: slot(n), verdict, confidence: Some(7) };
    let votes = (1..=sustain as u16).map(|n| vote(n, FindingVote::Sustain));
    let votes = votes.chain((1..=reject as u16).map(|n| vote(n + 10, FindingVote::Reject))).collect();
    let by = Witness::Votes { folder: "reviews/impl-review/judging".to_owned(), tally, votes };
    let ruling = Ruling { finding: id(number), round: 1, by, consensus: tally.consensus() };
    LedgerEntry::ruled(ruling, tally.standing())
}

fn claimed(number: u32) -> LedgerEntry {
    LedgerEntry::FixClaimed { finding: id(number), round: 1, commit: "c".repeat(40) }
}

fn verified(number: u32) -> LedgerEntry {
    LedgerEntry::Verified { finding: id(number), round: 2, by: panel(&[1, 2]) }
}

fn declined(number: u32) -> LedgerEntry {
    LedgerEntry::Declined { finding: id(number), round: 1, note: Remark::new("as it was meant"), before: None }
}

fn reopened(number: u32) -> LedgerEntry {
    LedgerEntry::Reopened { finding: id(number), round: 2, why: Remark::new("it is there again") }
}

fn path(dir: &Path) -> PathBuf {
    dir.join(LEDGER_FILE)
}

fn after(entries: impl IntoIterator<Item = LedgerEntry>) -> Result<Findings, IllegalEntry> {
    let mut findings = Findings::default();
    entries.into_iter().try_for_each(|entry| findings.apply(&entry))?;
    Ok(findings)
}

#[test]
fn every_move_there_is_and_no_other_is_taken() {
    use FindingState::{Declined, FixClaimed, NeedsPerson, Raised, Rejected, Sustained, Verified};
    // By entry: the states from which it leads somewhere, and where.
    type Moves = &'static [(Option<FindingState>, FindingState)];
    let table: [(LedgerEntry, Moves); 8] = [
        (
            raised(1, 2),
            &[
                (None, Raised),
                (Some(Raised), Raised),
                (Some(Sustained), Sustained),
                (Some(NeedsPerson), NeedsPerson),
                (Some(FixClaimed), FixClaimed),
            ],
        ),
        (voted(1, 2, 0), &[(Some(Raised), Sustained), (Some(Sustained), Sustained), (Some(NeedsPerson), Sustained)]),
        (voted(1, 0, 2), &[(Some(Raised), Rejected), (Some(Sustained), Rejected), (Some(NeedsPerson), Rejected)]),
        (
            voted(1, 1, 1),
            &[(Some(Raised), NeedsPerson), (Some(Sustained), NeedsPerson), (Some(NeedsPerson), NeedsPerson)],
        ),
        (claimed(1), &[(Some(Sustained), FixClaimed), (Some(FixClaimed), FixClaimed)]),
        (verified(1), &[(Some(Sustained), Verified), (Some(NeedsPerson), Verified), (Some(FixClaimed), Verified)]),
        (
            declined(1),
            &[
                (Some(Raised), Declined),
                (Some(Sustained), Declined),
                (Some(NeedsPerson), Declined),
                (Some(FixClaimed), Declined),
            ],
        ),
        (
            reopened(1),
            &[
                (Some(FixClaimed), Sustained),
                (Some(Rejected), Raised),
                (Some(Verified), Raised),
                (Some(Declined), Raised),
            ],
        ),
    ];
    for (entry, moves) in &table {
        for state in FindingState::ALL.into_iter().map(Some).chain([None]) {
            let expected = moves.iter().find(|(from, _)| *from == state).map(|(_, to)| *to);
            assert_eq!(finding_transition(state, entry), expected, "{} from {state:?}", entry.as_str());
        }
    }
}

#[test]
fn a_finding_leaves_by_a_positive_record_only() {
    let open = |entries: Vec<LedgerEntry>| after(entries).unwrap().open().count();
    assert_eq!(open(vec![raised(1, 1)]), 1);
    assert_eq!(open(vec![raised(1, 1), voted(1, 0, 1)]), 1, "one vote against it is not enough");
    assert_eq!(open(vec![raised(1, 1), voted(1, 2, 0), claimed(1)]), 1, "a claim is none");
    // A later round in which nobody raises it changes nothing.
    assert_eq!(open(vec![raised(1, 1), voted(1, 2, 0), claimed(1), raised(2, 2)]), 2);
    for last in [verified(1), declined(1), voted(1, 0, 2)] {
        assert_eq!(open(vec![raised(1, 1), voted(1, 2, 0), last]), 0);
    }
    assert_eq!(open(vec![raised(1, 1), voted(1, 2, 0), claimed(1), verified(1), reopened(1)]), 1);
}

#[test]
fn a_verdict_goes_by_what_is_open_or_rejected_and_a_claim_clears_nothing() {
    let findings = after([
        raised(1, 1),
        raised(2, 1),
        raised(3, 1),
        raised(4, 1),
        raised(5, 1),
        voted(2, 2, 0),
        claimed(2),
        voted(3, 0, 2),
        voted(4, 2, 1),
        verified(4),
        declined(5),
    ])
    .unwrap();
    let judged: Vec<(u32, Standing, Consensus)> =
        findings.judged().into_iter().map(|f| (f.id.number(), f.standing, f.consensus)).collect();
    assert_eq!(
        judged,
        [
            (1, Standing::NeedsPerson, Consensus::Divergent),
            (2, Standing::Sustained, Consensus::Unanimous),
            (3, Standing::Rejected, Consensus::Unanimous),
        ]
    );
    assert_eq!(findings.get(id(2)).unwrap().tally().unwrap().sustain, 2);
    assert_eq!(findings.next_id(), id(6));
}

#[test]
fn what_nobody_may_say_is_refused_and_changes_nothing() {
    let by = |entry: fn(Ruling) -> LedgerEntry, by| {
        entry(Ruling { finding: id(1), round: 1, by, consensus: Consensus::Divergent })
    };
    let person = || Witness::Person { note: None };
    let mut wrong_count = voted(1, 2, 0);
    if let LedgerEntry::Sustained(ruling) = &mut wrong_count {
        ruling.consensus = Consensus::Strong;
    }
    let LedgerEntry::Rejected(ruling) = voted(1, 0, 2) else { panic!() };
    for (entry, told) in [
        (raised(3, 1), "F03 is not the next one, which is F02"),
        (voted(7, 2, 0), "F07 cannot be `sustained`: nobody found it"),
        (claimed(1), "F01 cannot be `fix claimed`: not voted on"),
        (by(LedgerEntry::Rejected, person()), "F01 cannot be `rejected` by a person"),
        (by(LedgerEntry::NeedsPerson, person()), "F01 cannot be `needs a person` by a person"),
        (by(LedgerEntry::Sustained, panel(&[1])), "F01 cannot be `sustained` by a panel"),
        (wrong_count, "F01 cannot be `sustained`: the votes say `sustained`, unanimous"),
        (LedgerEntry::Sustained(ruling), "F01 cannot be `sustained`: the votes say `rejected`, unanimous"),
    ] {
        let mut findings = after([raised(1, 1)]).unwrap();
        let before = findings.clone();
        let error = findings.apply(&entry).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
        assert_eq!(findings, before);
    }
    assert!(after([raised(1, 1), by(LedgerEntry::Sustained, person())]).is_ok(), "a person may have it mended");
}

#[test]
fn found_again_it_keeps_its_worst_severity_and_every_version_to_be_known_by() {
    let content = |severity, title: &str| Finding { severity, ..finding(title, "Words that say what is wrong here.") };
    let again =
        |round, content| LedgerEntry::Raised { finding: id(1), round, by: panel(&[2]), content, caused_by: None };
    let findings = after([
        again(1, content(Severity::Critical, "First words")),
        again(2, content(Severity::Low, "Other text altogether")),
    ])
    .unwrap();
    let record = findings.get(id(1)).unwrap();
    assert_eq!((record.finding.severity, record.finding.title.as_str()), (Severity::Critical, "Other text altogether"));
    assert_eq!((record.first_round, record.last_round, record.raisers()), (1, 2, &[slot(2)][..]));
    let found = merge(&[(slot(1), vec![content(Severity::Low, "First words")])]);
    assert_eq!(findings.known().identify(found)[0].id, id(1));
}

#[test]
fn a_ledger_reads_back_as_it_was_written_and_each_line_holds_the_hash_of_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = path(dir.path());
    let mut ledger = Ledger::create(&path, "s", NOW).unwrap();
    ledger.append([raised(1, 1), raised(2, 1)], NOW).unwrap();
    ledger.append([voted(1, 2, 0)], NOW).unwrap();
    let read = LedgerRead::read(&path).unwrap();
    assert_eq!((&read.findings, read.lines, read.torn), (ledger.findings(), 4, false));
    assert_eq!((read.breaks.len(), read.session.as_deref()), (0, Some("s")));
    assert_eq!((read.lines, read.head), ledger.seal());
    let text = fs_err::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (line, next) in text.lines().zip(&lines[1..]) {
        assert_eq!(next["prev"], crate::ids::Sha256Hash::of(line.as_bytes()).to_string());
    }
    assert_eq!(
        lines[0],
        json!({"seq": 1, "at": "1970-01-01T00:00:00Z", "entry": "opened", "version": 1, "session": "s"})
    );
    let mut again = Ledger::open(&path, "s").unwrap();
    again.append([claimed(1)], NOW).unwrap();
    assert_eq!(LedgerRead::read(&path).unwrap().breaks, []);
    assert!(matches!(Ledger::open(&path, "other"), Err(LedgerError::Foreign { .. })));
    assert!(Ledger::create(&path, "s", NOW).is_err(), "one that is there is never begun anew");
}

#[test]
fn of_entries_that_cannot_all_follow_none_is_added() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::create(&path(dir.path()), "s", NOW).unwrap();
    let error = ledger.append([raised(1, 1), claimed(1)], NOW).unwrap_err();
    assert!(matches!(error, LedgerError::Illegal { .. }), "{error}");
    assert_eq!((ledger.findings().iter().count(), ledger.seal().0), (0, 1));
    ledger.append([raised(1, 1)], NOW).unwrap();
    assert_eq!(LedgerRead::read(&path(dir.path())).unwrap().lines, 2);
}

#[test]
fn a_torn_last_line_was_never_written_wherever_it_is_torn() {
    let dir = tempfile::tempdir().unwrap();
    let path = path(dir.path());
    let mut ledger = Ledger::create(&path, "s", NOW).unwrap();
    ledger.append([raised(1, 1)], NOW).unwrap();
    let before = ledger.findings().clone();
    let whole = fs_err::read(&path).unwrap().len();
    ledger.append([voted(1, 2, 0)], NOW).unwrap();
    let bytes = fs_err::read(&path).unwrap();
    for cut in whole + 1..bytes.len() {
        fs_err::write(&path, &bytes[..cut]).unwrap();
        let read = LedgerRead::read(&path).unwrap();
        assert_eq!((read.torn, read.breaks.len(), &read.findings), (true, 0, &before), "{cut}");
        let mut ledger = Ledger::take_up(&path, "s", NOW).unwrap();
        ledger.append([voted(1, 2, 0)], NOW).unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), bytes, "{cut}");
    }
}

#[test]
fn a_ledger_that_was_begun_and_not_written_is_begun_again_and_no_other_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = path(dir.path());
    for start in [None, Some(""), Some("{\"seq\":1,")] {
        fs_err::remove_file(&path).ok();
        if let Some(start) = start {
            fs_err::write(&path, start).unwrap();
            assert!(Ledger::open(&path, "s").is_err());
        }
        let ledger = Ledger::take_up(&path, "s", NOW).unwrap();
        assert_eq!((ledger.seal().0, LedgerRead::read(&path).unwrap().lines), (1, 1));
    }
    fs_err::write(&path, "{}\n").unwrap();
    assert!(Ledger::take_up(&path, "s", NOW).is_err());
    assert_eq!(fs_err::read(&path).unwrap(), b"{}\n", "a damaged one stays as it is");
}

#[test]
fn every_change_of_a_line_is_told_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = path(dir.path());
    let mut ledger = Ledger::create(&path, "s", NOW).unwrap();
    ledger.append([raised(1, 1), voted(1, 2, 0), claimed(1), verified(1)], NOW).unwrap();
    let text = fs_err::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let breaks = |lines: &[&str]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        LedgerRead::parse(&path, text.as_bytes()).unwrap().breaks
    };
    assert_eq!(breaks(&lines), []);
    let severity = lines[1].replace("\"high\"", "\"low\"");
    let told = breaks(&[lines[0], &severity, lines[2], lines[3], lines[4]]);
    assert_eq!(told[0], LedgerBreak { line: 3, why: "`prev` is not the hash of the line before".to_owned() });
    let told = breaks(&[lines[0], lines[1], lines[3], lines[4]]);
    assert_eq!(told[0].to_string(), "line 3: `seq` is 4, expected 3");
    let told = breaks(&[lines[0], lines[1], "{}", lines[3]]);
    assert_eq!(told[0].line, 3);
    assert_eq!(breaks(&[])[0].why, "the ledger is empty");
    assert_eq!(breaks(&[&lines[1].replace("\"seq\":2", "\"seq\":1")])[0].line, 1);
    fs_err::write(&path, text.replace("\"high\"", "\"low\"")).unwrap();
    let error = Ledger::open(&path, "s").unwrap_err().to_string();
    assert!(error.contains("findings.jsonl` line 3"), "{error}");
}

#[test]
fn a_forged_ruling_is_told_although_the_chain_holds() {
    let dir = tempfile::tempdir().unwrap();
    let path = path(dir.path());
    let mut ledger = Ledger::create(&path, "s", NOW).unwrap();
    ledger.append([raised(1, 1), voted(1, 2, 0)], NOW).unwrap();
    let forged = fs_err::read_to_string(&path).unwrap().replace("\"entry\":\"sustained\"", "\"entry\":\"rejected\"");
    let read = LedgerRead::parse(&path, forged.as_bytes()).unwrap();
    assert_eq!(
        read.breaks[0].to_string(),
        "line 3: finding F01 cannot be `rejected`: the votes say `sustained`, unanimous"
    );
}

#[test]
fn a_newer_ledger_is_refused_by_name() {
    let line = "{\"seq\":1,\"at\":\"1970-01-01T00:00:00Z\",\"entry\":\"begun\",\"version\":2}\n";
    let error = LedgerRead::parse(Path::new("findings.jsonl"), line.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "`findings.jsonl` has format version 2; this program knows up to 1");
}

#[test]
fn a_clock_that_was_set_back_does_not_reorder_entries() {
    let dir = tempfile::tempdir().unwrap();
    let path = path(dir.path());
    let later = Timestamp::from_second(100).unwrap();
    let mut ledger = Ledger::create(&path, "s", later).unwrap();
    ledger.append([raised(1, 1)], NOW).unwrap();
    let mut ledger = Ledger::open(&path, "s").unwrap();
    ledger.append([raised(2, 1)], NOW).unwrap();
    let text = fs_err::read_to_string(&path).unwrap();
    assert!(text.lines().all(|line| line.contains("1970-01-01T00:01:40Z")), "{text}");
}

#[test]
fn a_persons_words_are_bounded_and_made_harmless() {
    let long = Remark::new(&format!("no\u{1b}[0m {}", "ä".repeat(5000)));
    assert!(long.as_str().chars().count() < Remark::LONGEST + 10 && long.as_str().ends_with("[...]"));
    assert!(long.as_str().starts_with("no␛[0m ä"));
    let findings = after([raised(1, 1), declined(1)]).unwrap();
    assert_eq!(findings.get(id(1)).unwrap().note.as_ref().unwrap().as_str(), "as it was meant");
}

#[test]
fn why_a_finding_is_open_again_is_no_word_of_a_persons_and_takes_none_away() {
    let note = || Some(Remark::new("only on Tuesdays"));
    let wanted =
        Ruling { finding: id(1), round: 1, by: Witness::Person { note: note() }, consensus: Consensus::Unanimous };
    let findings =
        after([raised(1, 1), voted(1, 1, 1), LedgerEntry::Sustained(wanted), claimed(1), reopened(1)]).unwrap();
    let record = findings.get(id(1)).unwrap();
    assert_eq!((record.state, record.note.clone()), (FindingState::Sustained, note()));
    let findings = after([raised(1, 1), voted(1, 0, 2), reopened(1)]).unwrap();
    assert_eq!(findings.get(id(1)).unwrap().note, None);
}
