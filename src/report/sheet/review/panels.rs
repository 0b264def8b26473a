//! The reviews of a session, each with who reviewed and who voted.

use super::super::collect::Part;
use super::super::model::{Integrity, Seat, Side};
use super::model::{FindingJudgeRow, PanelRow, ReviewerRow};
use crate::findings::{FindingRecord, FindingState, FindingVote, FindingVotes, Findings, Witness};
use crate::ids::{Sha256Hash, SlotId};
use crate::report::fix_record::FixRecord;
use crate::secrets::{Redactor, reveal};
use crate::session::slot::{Reason, SlotState};
use crate::session::{Event, InnerPanel, Layout, Record, ReviewExtent, SlotStatus};

/// The reviews that were opened, in order.
pub(super) struct Panels<'a> {
    reviews: Vec<Review<'a>>,
}

struct Review<'a> {
    number: u32,
    folder: String,
    /// The reviewers, then their further turns.
    reviewers: Vec<&'a Part>,
    /// The judges, then their further turns.
    judges: Vec<&'a Part>,
    ballots: Option<FindingVotes>,
}

/// What could be read of a reviewer's replies: how many findings the last of them holds.
enum Reading {
    None,
    Unreadable,
    Found(u32),
}

impl<'a> Panels<'a> {
    /// Of the session in `layout`, whose panels are `opened` and whose parts are `parts`.
    pub(super) fn of(layout: &Layout, opened: &[InnerPanel], parts: &'a [Part], integrity: &Integrity) -> Self {
        let reviews = opened.iter().filter_map(|panel| {
            let folder = panel.folder();
            let of = |side: Side| -> Vec<&Part> {
                parts.iter().filter(|part| part.side == side && part.inner.as_deref() == Some(&folder)).collect()
            };
            let (reviewers, judges) = (of(Side::Reviewer), of(Side::Judge));
            if reviewers.is_empty() {
                return None;
            }
            let ballots = judges.first().and_then(|part| ballots(layout, part, integrity));
            Some(Review { number: panel.number, folder, reviewers, judges, ballots })
        });
        Self { reviews: reviews.collect() }
    }

    /// Of a session in which none was opened.
    #[cfg(test)]
    pub(super) const fn none() -> Self {
        Self { reviews: Vec::new() }
    }

    fn review(&self, folder: &str) -> Option<&Review<'a>> {
        self.reviews.iter().find(|review| review.folder == folder)
    }

    /// The name of a reviewer, once the vote is over.
    pub(super) fn reviewer(&self, folder: &str, slot: SlotId) -> Option<String> {
        self.review(folder)?.reviewers.first()?.name_of(slot)
    }

    /// The name of a judge in the vote whose folder is `folder`, once the vote is over.
    pub(super) fn judge(&self, folder: &str, judge: SlotId) -> Option<String> {
        self.voted(folder)?.judges.first()?.name_of(judge)
    }

    /// The ballots in `folder`, when they are those on record.
    pub(super) fn ballots(&self, folder: &str) -> Option<&FindingVotes> {
        self.voted(folder)?.ballots.as_ref()
    }

    fn voted(&self, folder: &str) -> Option<&Review<'a>> {
        self.reviews.iter().find(|review| review.judges.first().is_some_and(|part| part.folder() == folder))
    }

    /// A row for each review.
    pub(super) fn rows(&self, fix: Option<&FixRecord>) -> Vec<PanelRow> {
        let row = |review: &Review<'_>| {
            let seats = review.seats();
            let readings: Vec<Reading> = seats.iter().map(|(id, _)| review.reading(*id)).collect();
            let found = readings.iter().filter_map(|reading| match reading {
                Reading::Found(count) => Some(*count),
                Reading::None | Reading::Unreadable => None,
            });
            let held = fix.and_then(|fix| fix.reviews.iter().find(|held| held.review == review.number));
            let what = held.map_or_else(String::new, |held| {
                let commit = super::findings::short(&held.commit);
                match held.extent {
                    ReviewExtent::Full => format!("all of the change, at {commit}"),
                    ReviewExtent::Delta => format!("what the repair changed, at {commit}"),
                }
            });
            let voters = review.ballots.as_ref().map_or_else(
                || if review.judges.is_empty() { "no vote was held".to_owned() } else { "unknown".to_owned() },
                |ballots| {
                    let voted = ballots.judges.iter().filter(|judge| !judge.ballot.votes.is_empty()).count();
                    format!("{voted} of {}", ballots.judges.len())
                },
            );
            PanelRow {
                number: review.number,
                folder: review.folder.clone(),
                what,
                panel: seats.len(),
                usable: readings.iter().filter(|reading| matches!(reading, Reading::Found(_))).count(),
                raised: found.sum(),
                voters,
                open: held.map(|held| held.open),
            }
        };
        self.reviews.iter().map(row).collect()
    }

    /// A row for each reviewer of each review; who found what only where `decided`.
    pub(super) fn reviewers(&self, findings: &Findings, decided: bool, redactor: &Redactor) -> Vec<ReviewerRow> {
        let mut rows = Vec::new();
        for review in &self.reviews {
            for (id, entry) in review.seats() {
                let raised: Vec<&FindingRecord> =
                    findings.iter().filter(|record| review.is_raised_by(record, id)).collect();
                let of = |states: &[FindingState]| {
                    decided.then(|| raised.iter().filter(|record| states.contains(&record.state)).count())
                };
                let ids = || raised.iter().map(|record| record.id.to_string()).collect::<Vec<_>>().join(", ");
                let reading = review.reading(id);
                let usable = matches!(reading, Reading::Found(_));
                rows.push(ReviewerRow {
                    panel: review.number,
                    seat: Seat { id, name: review.reviewers.first().and_then(|part| part.name_of(id)) },
                    state: entry.state.as_str(),
                    told: redactor.text(&review.told(id, entry, &reading)),
                    usable,
                    lost: !usable && is_over(entry.state),
                    found: (decided && usable).then(|| if raised.is_empty() { "nothing".to_owned() } else { ids() }),
                    sustained: of(&[FindingState::Sustained, FindingState::FixClaimed, FindingState::Verified]),
                    rejected: of(&[FindingState::Rejected]),
                });
            }
        }
        rows
    }

    /// A row for each judge of each review.
    pub(super) fn judges(&self) -> Vec<FindingJudgeRow> {
        let mut rows = Vec::new();
        for review in &self.reviews {
            let Some(ballots) = &review.ballots else { continue };
            for judge in &ballots.judges {
                let count = |vote| judge.ballot.votes.iter().filter(|cast| cast.verdict == vote).count();
                rows.push(FindingJudgeRow {
                    panel: review.number,
                    seat: Seat { id: judge.id, name: review.judges.first().and_then(|part| part.name_of(judge.id)) },
                    state: judge.state.as_str(),
                    shown: judge.shown.len(),
                    sustain: count(FindingVote::Sustain),
                    reject: count(FindingVote::Reject),
                    ask: count(FindingVote::Ask),
                    missing: judge.ballot.missing.len(),
                });
            }
        }
        rows
    }
}

impl Review<'_> {
    /// Whether this seat raised a finding in this review. The finding itself knows the last review only.
    fn is_raised_by(&self, record: &FindingRecord, seat: SlotId) -> bool {
        match self.ballots.as_ref().and_then(|ballots| ballots.raised.get(&record.id)) {
            Some(slots) => slots.contains(&seat),
            None => {
                matches!(&record.raised_by, Witness::Panel { folder, slots } if *folder == self.folder && slots.contains(&seat))
            }
        }
    }

    fn seats(&self) -> Vec<(SlotId, &SlotStatus)> {
        let entries = self.reviewers.first().map(|part| part.status.models.iter());
        entries.into_iter().flatten().map(|(id, entry)| (*id, entry)).collect()
    }

    /// What the last reply of a seat came to, over all of its turns.
    fn reading(&self, seat: SlotId) -> Reading {
        let mut reading = Reading::None;
        for record in self.reviewers.iter().flat_map(|part| &part.records) {
            match record.event {
                Event::FindingsRead { slot, findings: Some(count), .. } if slot == seat => {
                    return Reading::Found(count);
                }
                Event::FindingsRead { slot, findings: None, .. } if slot == seat => reading = Reading::Unreadable,
                _ => {}
            }
        }
        reading
    }

    /// How a seat ended, in words.
    fn told(&self, seat: SlotId, entry: &SlotStatus, reading: &Reading) -> String {
        match reading {
            Reading::Found(count) => {
                let found = if *count == 1 { "1 finding".to_owned() } else { format!("{count} findings") };
                match self.reviewers.iter().skip(1).filter(|part| part.status.models.contains_key(&seat)).count() {
                    0 => found,
                    1 => format!("{found}; its first reply could not be read, so it was asked once more"),
                    _ => format!("{found}; its first two replies could not be read, so it was asked anew"),
                }
            }
            Reading::Unreadable => format!("{}: no findings can be read in its replies", Reason::BadOutput.as_str()),
            Reading::None if !is_over(entry.state) => "at work".to_owned(),
            Reading::None => match &entry.error {
                Some(error) => {
                    let manifest = self.reviewers.first().and_then(|part| part.manifest.as_ref());
                    let detail = match manifest {
                        Some(manifest) => reveal(&error.detail, |placeholder| manifest.name_for(placeholder)),
                        None => error.detail.clone(),
                    };
                    format!("{}: {detail}", error.reason.as_str())
                }
                None => "nothing was read of it".to_owned(),
            },
        }
    }
}

const fn is_over(state: SlotState) -> bool {
    !matches!(state, SlotState::Pending | SlotState::Running)
}

/// The ballots of a round of votes, when they are those on record.
fn ballots(layout: &Layout, part: &Part, integrity: &Integrity) -> Option<FindingVotes> {
    let file = format!("{}votes.json", part.prefix);
    if integrity.is_suspect(&file) {
        return None;
    }
    let recorded = |record: &Record| match &record.event {
        Event::FileWritten { file, sha256 } if file == "votes.json" => Some(*sha256),
        _ => None,
    };
    let recorded = part.records.iter().rev().find_map(recorded)?;
    let bytes = crate::fs::read_plain(layout.root().join(&file)).ok()?;
    let votes = (Sha256Hash::of(&bytes) == recorded).then(|| serde_json::from_slice::<FindingVotes>(&bytes).ok());
    let mut votes = votes.flatten()?;
    // What a judge was asked for once more is a part of what it said.
    for judge in &mut votes.judges {
        judge.ballot = judge.said();
        judge.repair = None;
    }
    Some(votes)
}
