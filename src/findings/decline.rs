//! What people decided to leave in earlier sessions, and whether something that is found now is it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::likeness::{Words, declined_again};
use super::{Finding, FindingId, FindingRecord, Merged, Remark};
use crate::config::Severity;
use crate::ids::DateTime;

/// Where a decline comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeclineOrigin {
    /// The session in which it was declined.
    pub session: String,
    /// The id that the finding had there.
    pub finding: FindingId,
    /// When.
    #[schemars(with = "DateTime")]
    pub at: Timestamp,
    /// Who, as git calls that person; absent where nothing says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
}

impl DeclineOrigin {
    /// Who decided when and where, in words.
    #[must_use]
    pub fn told(&self) -> String {
        let by = self.by.as_deref().unwrap_or("a person");
        let at = self.at.strftime("%Y-%m-%d %H:%M UTC");
        format!("by {by} on {at}, as {} of `{}`", self.finding, self.session)
    }
}

/// A finding that was declined in an earlier session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EarlierDecline {
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: DeclineOrigin,
    /// What was declined.
    pub content: Finding,
    /// Why, in the person's words; may be empty.
    pub note: Remark,
}

/// What becomes of something found that is like one that was declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declined<'a> {
    /// It is what a person decided to leave.
    As(&'a EarlierDecline),
    /// It is that, and said to be worse than what the person decided about: the decision does not cover it.
    Worse(&'a EarlierDecline),
}

/// What was declined in earlier sessions and holds, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EarlierDeclines(Vec<EarlierDecline>);

impl EarlierDeclines {
    /// The most that a session goes by; of more it is the newest.
    pub const MOST: usize = 200;

    /// Of these, the newest first; gives back how many are left out.
    #[must_use]
    pub fn new(mut all: Vec<EarlierDecline>) -> (Self, usize) {
        all.sort_by(|one, other| other.origin.at.cmp(&one.origin.at).then_with(|| one.origin.cmp(&other.origin)));
        let left_out = all.len().saturating_sub(Self::MOST);
        all.truncate(Self::MOST);
        (Self(all), left_out)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &EarlierDecline> {
        self.0.iter()
    }

    /// What a decision says of something found by a panel, in whichever words of it.
    #[must_use]
    pub fn of(&self, merged: &Merged) -> Option<Declined<'_>> {
        self.among(merged.said.iter().map(|(_, finding)| finding), merged.finding.severity)
    }

    /// What a decision says of a finding of the ledger.
    #[must_use]
    pub fn of_record(&self, record: &FindingRecord) -> Option<Declined<'_>> {
        self.among(std::iter::once(&record.finding), record.finding.severity)
    }

    fn among<'f>(&self, said: impl Iterator<Item = &'f Finding> + Clone, severity: Severity) -> Option<Declined<'_>> {
        let mut worse = None;
        for decline in &self.0 {
            if said.clone().any(|finding| decline.is_about(finding)) {
                if severity <= decline.content.severity {
                    return Some(Declined::As(decline));
                }
                worse.get_or_insert(Declined::Worse(decline));
            }
        }
        worse
    }
}

impl EarlierDecline {
    /// Whether `finding` is the one that was declined, however bad it is said to be.
    #[must_use]
    pub fn is_about(&self, finding: &Finding) -> bool {
        declined_again((finding, &Words::of(finding)), (&self.content, &Words::of(&self.content))).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Action, Lines};

    fn finding(severity: Severity, title: &str, line: u32) -> Finding {
        Finding {
            severity,
            action: Action::AskUser,
            file: Some("src/db.rs".to_owned()),
            lines: Lines::new(line, line),
            title: title.to_owned(),
            description: format!("{title}, since the name is put into the query as it is."),
            evidence: String::new(),
            suggestion: String::new(),
        }
    }

    fn declined(content: Finding, second: i64) -> EarlierDecline {
        let origin = DeclineOrigin {
            session: format!("fix-x-{second}"),
            finding: FindingId::FIRST,
            at: Timestamp::from_second(second).unwrap(),
            by: None,
        };
        EarlierDecline { origin, content, note: Remark::new("by design") }
    }

    fn says(declines: &EarlierDeclines, finding: Finding) -> Option<&'static str> {
        let merged =
            Merged { said: vec![("01".parse().unwrap(), finding.clone())], raised_by: Default::default(), finding };
        declines.of(&merged).map(|found| match found {
            Declined::As(_) => "declined",
            Declined::Worse(_) => "worse",
        })
    }

    #[test]
    fn a_decline_covers_the_same_finding_wherever_it_moved_and_nothing_worse_or_other() {
        let (declines, left_out) =
            EarlierDeclines::new(vec![declined(finding(Severity::Medium, "SQL injection in find_user", 10), 5)]);
        assert_eq!(left_out, 0);
        for (found, expected) in [
            (finding(Severity::Medium, "SQL injection in find_user", 10), Some("declined")),
            (finding(Severity::Low, "find_user has an SQL injection", 24), Some("declined")),
            (finding(Severity::Medium, "SQL injection in find_user", 900), Some("declined")),
            (finding(Severity::High, "SQL injection in find_user", 10), Some("worse")),
            (finding(Severity::Medium, "SQL injection in find_role", 12), None),
            (finding(Severity::Medium, "Connection leaks in find_user", 10), None),
            (
                Finding { file: Some("src/a.rs".into()), ..finding(Severity::Low, "SQL injection in find_user", 10) },
                None,
            ),
            (Finding { file: None, lines: None, ..finding(Severity::Low, "SQL injection in find_user", 10) }, None),
        ] {
            assert_eq!(says(&declines, found.clone()), expected, "{found:?}");
        }
    }

    #[test]
    fn of_several_decisions_one_that_covers_it_is_enough_and_only_the_newest_are_kept() {
        let mild = declined(finding(Severity::Low, "SQL injection in find_user", 10), 9);
        let grave = declined(finding(Severity::High, "SQL injection in find_user", 10), 3);
        let (declines, _) = EarlierDeclines::new(vec![grave, mild]);
        assert_eq!(says(&declines, finding(Severity::High, "SQL injection in find_user", 10)), Some("declined"));
        assert_eq!(says(&declines, finding(Severity::Critical, "SQL injection in find_user", 10)), Some("worse"));
        assert_eq!(declines.iter().next().unwrap().origin.session, "fix-x-9");
        let many = (0..300).map(|second| declined(finding(Severity::Low, "T", 1), second)).collect();
        let (declines, left_out) = EarlierDeclines::new(many);
        assert_eq!((declines.iter().len(), left_out), (EarlierDeclines::MOST, 100));
        assert_eq!(declines.iter().next().unwrap().origin.at.as_second(), 299);
    }
}
