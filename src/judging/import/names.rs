//! What the answers of a session are called in a file from elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{Sha256Hash, SlotId};

/// The answers of a session: the complete ones by id and by hash, and every one by its model.
///
/// Which model wrote which answer is nobody's to see before the verdict, nor which one failed. So no error depends on
/// it: a model is found whether its answer is complete or not, and names of models stand beside no others
/// (`NamedBy`).
#[derive(Debug, Clone, Default)]
pub struct AnswerNames {
    answers: Vec<(SlotId, Option<Sha256Hash>)>,
    models: Vec<(SlotId, String)>,
}

/// How a judge's ballot names the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedBy {
    /// By numbers, or by the hashes of their texts.
    Answer,
    /// By their models.
    Model,
}

impl NamedBy {
    /// What `name` is by its form alone, where the file gives no hash for it.
    pub(super) fn of(name: &str) -> Self {
        let name = name.trim();
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) { Self::Answer } else { Self::Model }
    }

    /// Notes in `known` that the ballot of `judge` names an answer in this way.
    pub(super) fn note(self, known: &mut Option<Self>, judge: &str) -> Result<(), String> {
        match known.replace(self) {
            Some(before) if before != self => Err(format!(
                "judge `{}` names answers by their models and by numbers; which belong together is told by the verdict \
                 only, so name all of them in one way",
                shortened(judge)
            )),
            _ => Ok(()),
        }
    }
}

impl AnswerNames {
    /// `answers` are the complete ones, each with its hash; `models` are those of all slots.
    #[must_use]
    pub fn new(
        answers: impl IntoIterator<Item = (SlotId, Option<Sha256Hash>)>,
        models: impl IntoIterator<Item = (SlotId, String)>,
    ) -> Self {
        Self { answers: answers.into_iter().collect(), models: models.into_iter().collect() }
    }

    /// The slot that `name` stands for: that of a complete answer by its number, or that of a model that has one slot,
    /// whose answer may not be complete.
    pub(super) fn find(&self, name: &str) -> Result<SlotId, String> {
        let name = name.trim();
        let found: Vec<SlotId> = match NamedBy::of(name) {
            NamedBy::Answer => self.answers.iter().map(|(id, _)| *id).filter(|id| id.to_string() == name).collect(),
            NamedBy::Model => self.models.iter().filter(|(_, model)| model == name).map(|(id, _)| *id).collect(),
        };
        match found[..] {
            [id] => Ok(id),
            [] => Err(format!("`{}` is no answer of this session; they are {}", shortened(name), self.list())),
            _ => Err(format!("`{name}` has several slots here; name its answers by their numbers")),
        }
    }

    /// The answer that each of `names`, with the hash of its text, stands for; those whose text no answer here has are
    /// left out.
    ///
    /// Of answers with the same text each name gets one of its own: the one of the same id, else the next in order that
    /// no other name has. Where the others are more than the answers here, the last ones share the last answer.
    pub(super) fn with_hashes(&self, names: &BTreeMap<String, Sha256Hash>) -> BTreeMap<String, SlotId> {
        let mut found = BTreeMap::new();
        let texts: BTreeSet<&Sha256Hash> = names.values().collect();
        for text in texts {
            let here = self.answers.iter().filter(|(_, known)| known.as_ref() == Some(text)).map(|(id, _)| *id);
            let mut free: Vec<SlotId> = here.collect();
            let Some(last) = free.last().copied() else { continue };
            let (same, other): (Vec<&String>, Vec<&String>) = names
                .iter()
                .filter(|(_, hash)| *hash == text)
                .map(|(name, _)| name)
                .partition(|name| free.iter().any(|id| id.to_string() == **name));
            free.retain(|id| !same.iter().any(|name| id.to_string() == **name));
            found.extend(same.into_iter().filter_map(|name| Some((name.clone(), name.parse().ok()?))));
            let rest = free.into_iter().chain(std::iter::repeat(last));
            found.extend(other.into_iter().cloned().zip(rest));
        }
        found
    }

    fn list(&self) -> String {
        let ids: Vec<String> = self.answers.iter().map(|(id, _)| id.to_string()).collect();
        format!("{}, or the names of their models", ids.join(", "))
    }
}

/// Enough of a foreign text to recognise it, without what a terminal would act on.
pub(super) fn shortened(text: &str) -> String {
    let mut out = String::new();
    text.chars().take(60).for_each(|c| crate::judging::push_visible(&mut out, if c == '\n' { ' ' } else { c }));
    out
}
