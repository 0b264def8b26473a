//! The ballots of a block.

use super::field::{Field, Subject, field, issue, issues, unwrapped};

/// One ballot as it stands in a reply, nothing checked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What it is on, as it is named there.
    pub(crate) response: Option<String>,
    /// Every value given; more than one when the field is repeated.
    pub(crate) verdicts: Vec<String>,
    pub(super) confidence: Option<String>,
    pub(super) summary: String,
    pub(super) issues: Vec<String>,
}

/// Where a line without a field's name belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Summary,
    Issues,
    Nothing,
}

/// The ballots of one block, by somebody who votes on `subject`s: a further name begins a further ballot.
pub(super) fn entries(block: &str, subject: Subject) -> Vec<Entry> {
    let mut all = Vec::new();
    let mut entry = Entry::default();
    let mut last = Last::Nothing;
    for line in block.split('\n') {
        match field(line, subject) {
            Some((Field::Response, value)) => {
                if entry != Entry::default() && (entry.response.is_some() || !entry.verdicts.is_empty()) {
                    all.push(whole(std::mem::take(&mut entry)));
                }
                entry.response = Some(value.to_owned());
                last = Last::Nothing;
            }
            Some((Field::Verdict, value)) => {
                entry.verdicts.push(value.to_owned());
                last = Last::Nothing;
            }
            Some((Field::Confidence, value)) => {
                entry.confidence = Some(value.to_owned());
                last = Last::Nothing;
            }
            Some((Field::Summary, value)) => {
                value.clone_into(&mut entry.summary);
                last = Last::Summary;
            }
            Some((Field::KeyIssues, value)) => {
                entry.issues.extend(issues(value));
                last = Last::Issues;
            }
            None if line.trim().is_empty() => {}
            None => match last {
                Last::Summary => {
                    if !entry.summary.is_empty() {
                        entry.summary.push(' ');
                    }
                    entry.summary.push_str(line.trim());
                }
                Last::Issues => entry.issues.extend(issue(line)),
                Last::Nothing => {}
            },
        }
    }
    if entry != Entry::default() {
        all.push(whole(entry));
    }
    all
}

/// `entry` when its last line is read: only then is it to be seen what is around all of the summary.
fn whole(mut entry: Entry) -> Entry {
    entry.summary = unwrapped(&entry.summary).to_owned();
    entry
}
