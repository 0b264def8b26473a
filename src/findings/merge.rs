//! What several reviewers say of the same thing, taken together; and what was said in an earlier round, known again.

use std::collections::BTreeSet;

use super::likeness::{Likeness, Words, again, declined_again, same};
use super::{Finding, FindingId, Lines};
use crate::ids::SlotId;
use crate::secrets::Redactor;

/// One finding of a round, in the words of one who raised it, and all that was said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The words of one of them, the worst severity and the strictest action of all.
    pub finding: Finding,
    /// Who raised it.
    pub raised_by: BTreeSet<SlotId>,
    /// What each of them said, by seat.
    pub said: Vec<(SlotId, Finding)>,
}

/// Takes together what is said of the same lines in similar words. What is not clearly the same stays apart: a finding
/// that is voted on twice costs less than one that is lost in another.
///
/// The result is the same for every order of reviewers and of what each of them says: the worst first, then by place.
#[must_use]
pub fn merge(found: &[(SlotId, Vec<Finding>)]) -> Vec<Merged> {
    let mut said: Vec<(&Finding, SlotId)> =
        found.iter().flat_map(|(slot, findings)| findings.iter().map(|finding| (finding, *slot))).collect();
    said.sort();
    let words: Vec<Words> = said.iter().map(|(finding, _)| Words::of(finding)).collect();
    let alike = |a: usize, b: usize| {
        let ((one, by), (other, by_other)) = (said[a], said[b]);
        same((one, &words[a]), (other, &words[b]), by == by_other)
    };
    let mut pairs: Vec<(Likeness, usize, usize)> = Vec::new();
    for a in 0..said.len() {
        pairs.extend((a + 1..said.len()).filter_map(|b| Some((alike(a, b)?, a, b))));
    }
    pairs.sort_by(|one, other| other.0.cmp(&one.0).then((one.1, one.2).cmp(&(other.1, other.2))));
    // The most alike first, and a group only grows by what is like all that is in it: a chain of findings each of which
    // is a little like the next one is not one finding.
    let mut group: Vec<usize> = (0..said.len()).collect();
    let mut members: Vec<Vec<usize>> = (0..said.len()).map(|at| vec![at]).collect();
    for (_, a, b) in pairs {
        let (into, from) = (group[a].min(group[b]), group[a].max(group[b]));
        let all = || members[into].iter().all(|one| members[from].iter().all(|other| alike(*one, *other).is_some()));
        if into != from && all() {
            let moved = std::mem::take(&mut members[from]);
            moved.iter().for_each(|at| group[*at] = into);
            members[into].extend(moved);
        }
    }
    let groups = members.iter().filter(|group| !group.is_empty());
    let mut merged: Vec<Merged> = groups.map(|group| together(group.iter().map(|at| said[*at]).collect())).collect();
    merged.sort_by(|one, other| {
        other.finding.severity.cmp(&one.finding.severity).then_with(|| place(&one.finding).cmp(&place(&other.finding)))
    });
    merged
}

/// What findings of one severity are ordered by; those about no file come last.
fn place(finding: &Finding) -> (bool, Option<&str>, Option<Lines>, &Finding) {
    (finding.file.is_none(), finding.file.as_deref(), finding.lines, finding)
}

fn together(mut group: Vec<(&Finding, SlotId)>) -> Merged {
    // In the words of the one that says the worst and, of those, the most.
    let length = |finding: &Finding| finding.description.len() + finding.evidence.len() + finding.suggestion.len();
    group.sort_by(|(one, by), (other, by_other)| {
        let worst = other.severity.cmp(&one.severity);
        let located = other.lines.is_some().cmp(&one.lines.is_some());
        worst.then(located).then(length(other).cmp(&length(one))).then(one.cmp(other)).then(by.cmp(by_other))
    });
    let mut finding = group[0].0.clone();
    finding.action = group.iter().map(|(finding, _)| finding.action).max().unwrap_or(finding.action);
    if finding.file.is_none() {
        finding.file = group.iter().find_map(|(finding, _)| finding.file.clone());
    }
    if finding.lines.is_none() {
        let of_file = group.iter().filter(|(other, _)| other.file == finding.file);
        finding.lines = of_file.filter_map(|(finding, _)| finding.lines).min();
    }
    let mut said: Vec<(SlotId, Finding)> = group.into_iter().map(|(finding, slot)| (slot, finding.clone())).collect();
    said.sort_by(|(one, a), (other, b)| one.cmp(other).then_with(|| a.cmp(b)));
    Merged { finding, raised_by: said.iter().map(|(slot, _)| *slot).collect(), said }
}

/// What earlier rounds found: by id, in every version in which it was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known(Vec<KnownFinding>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownFinding {
    id: FindingId,
    said: Vec<Finding>,
    /// Whether a person decided to leave it: what is taken for it is silenced.
    declined: bool,
}

/// A finding of a round under its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identified {
    /// The id that it had, or the next one.
    pub id: FindingId,
    /// Whether an earlier round had it.
    pub seen: Seen,
    /// What is said of it now.
    pub merged: Merged,
}

impl Identified {
    /// The same without keys in any of its texts: others' models and people who were never meant to have them read on.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        self.merged.finding.redact(redactor);
        self.merged.said.iter_mut().for_each(|(_, finding)| finding.redact(redactor));
        self
    }
}

/// Whether an earlier round had a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// None had it.
    New,
    /// One had it: its ledger says what became of it.
    Again,
}

impl Known {
    /// Of nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds what was said of the finding `id`.
    pub fn add(&mut self, id: FindingId, said: impl IntoIterator<Item = Finding>) {
        match self.0.iter_mut().find(|known| known.id == id) {
            Some(known) => known.said.extend(said),
            None => self.0.push(KnownFinding { id, said: said.into_iter().collect(), declined: false }),
        }
    }

    /// Adds what was said of the finding `id`, which a person decided to leave: only what clearly is the same is known as
    /// it.
    pub fn add_declined(&mut self, id: FindingId, said: impl IntoIterator<Item = Finding>) {
        self.add(id, said);
        self.0.iter_mut().filter(|known| known.id == id).for_each(|known| known.declined = true);
    }

    /// Gives each of `merged` the id under which it is known, else the next new one in their order. Lines may have moved
    /// since, so the words count for more than the place. No two get the same id.
    #[must_use]
    pub fn identify(&self, merged: Vec<Merged>) -> Vec<Identified> {
        let known: Vec<(usize, &Finding, Words)> = self
            .0
            .iter()
            .enumerate()
            .flat_map(|(at, known)| known.said.iter().map(move |finding| (at, finding, Words::of(finding))))
            .collect();
        let mut pairs: Vec<(Likeness, FindingId, usize, usize)> = Vec::new();
        for (now, merged) in merged.iter().enumerate() {
            for (_, finding) in &merged.said {
                let words = Words::of(finding);
                pairs.extend(known.iter().filter_map(|(at, earlier, earlier_words)| {
                    let KnownFinding { id, declined, .. } = &self.0[*at];
                    let is_again = if *declined { declined_again } else { again };
                    Some((is_again((finding, &words), (*earlier, earlier_words))?, *id, *at, now))
                }));
            }
        }
        pairs.sort_by(|one, other| other.0.cmp(&one.0).then((one.1, one.3).cmp(&(other.1, other.3))));
        let mut ids: Vec<Option<FindingId>> = vec![None; merged.len()];
        let mut taken = BTreeSet::new();
        for (_, id, _, now) in pairs {
            if ids[now].is_none() && taken.insert(id) {
                ids[now] = Some(id);
            }
        }
        let mut next = self.0.iter().map(|known| known.id.next()).max().unwrap_or(FindingId::FIRST);
        let identified = merged.into_iter().zip(ids).map(|(merged, id)| match id {
            Some(id) => Identified { id, seen: Seen::Again, merged },
            None => {
                let id = next;
                next = next.next();
                Identified { id, seen: Seen::New, merged }
            }
        });
        identified.collect()
    }
}
