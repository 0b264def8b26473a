//! Faults that judges named, grouped.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::SlotId;

/// One fault in the words of the first judge that named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyIssue {
    /// The words.
    pub text: String,
    /// How many votes name it.
    pub count: u32,
    /// The answers it was named for.
    pub answers: Vec<SlotId>,
    /// The judges that named it.
    pub raised_by: Vec<SlotId>,
}

/// Groups faults that differ in case, punctuation or white space only.
#[derive(Debug, Default)]
pub(super) struct IssueGroups(BTreeMap<String, Group>);

#[derive(Debug)]
struct Group {
    text: String,
    named: BTreeSet<(SlotId, SlotId)>,
}

impl IssueGroups {
    /// Adds a fault; the caller goes by judge and answer, so that the words kept do not depend on the order of votes.
    pub(super) fn add(&mut self, judge: SlotId, answer: SlotId, text: &str) {
        let mut words = String::with_capacity(text.len());
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(&word.to_lowercase());
        }
        if words.is_empty() {
            return;
        }
        let group = self.0.entry(words).or_insert_with(|| Group { text: text.to_owned(), named: BTreeSet::new() });
        group.named.insert((judge, answer));
    }

    /// The most frequent first, then those of more judges, then by their words.
    pub(super) fn by_frequency(self) -> Vec<KeyIssue> {
        let mut issues: Vec<KeyIssue> = self
            .0
            .into_values()
            .map(|group| {
                let judges: BTreeSet<SlotId> = group.named.iter().map(|(judge, _)| *judge).collect();
                let answers: BTreeSet<SlotId> = group.named.iter().map(|(_, answer)| *answer).collect();
                KeyIssue {
                    text: group.text,
                    count: u32::try_from(group.named.len()).unwrap_or(u32::MAX),
                    answers: answers.into_iter().collect(),
                    raised_by: judges.into_iter().collect(),
                }
            })
            .collect();
        // The map gave them by their words, and the sort is stable.
        issues.sort_by_key(|issue| std::cmp::Reverse((issue.count, issue.raised_by.len())));
        issues
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_that_differ_in_form_only_are_one_and_the_most_frequent_comes_first() {
        let ids: Vec<SlotId> = SlotId::panel(3).collect();
        let mut groups = IssueGroups::default();
        groups.add(ids[0], ids[1], "Too slow");
        groups.add(ids[0], ids[1], "No tests.");
        groups.add(ids[2], ids[0], "no  TESTS");
        groups.add(ids[2], ids[0], "no tests!");
        groups.add(ids[2], ids[0], "...");
        let issues = groups.by_frequency();
        assert_eq!(issues.len(), 2);
        assert_eq!((issues[0].text.as_str(), issues[0].count), ("No tests.", 2));
        assert_eq!(issues[0].raised_by, [ids[0], ids[2]]);
        assert_eq!(issues[0].answers, [ids[0], ids[1]]);
        assert_eq!((issues[1].text.as_str(), issues[1].count), ("Too slow", 1));
    }
}
