//! What the answers of a session are called in a file from elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{Sha256Hash, SlotId};

/// The complete answers of a session, by id, by model and by hash.
#[derive(Debug, Clone, Default)]
pub struct AnswerNames {
    answers: Vec<(SlotId, String, Option<Sha256Hash>)>,
}

impl AnswerNames {
    /// `answers` are the complete ones, each with its model's name and its hash.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = (SlotId, String, Option<Sha256Hash>)>) -> Self {
        Self { answers: answers.into_iter().collect() }
    }

    /// The answer that `name` stands for: an id of the session, or the name of a model that has one answer.
    pub(super) fn find(&self, name: &str) -> Result<SlotId, String> {
        let name = name.trim();
        if let Some((id, ..)) = self.answers.iter().find(|(id, ..)| id.to_string() == name) {
            return Ok(*id);
        }
        let of_model: Vec<SlotId> =
            self.answers.iter().filter(|(_, model, _)| model == name).map(|(id, ..)| *id).collect();
        match of_model[..] {
            [id] => Ok(id),
            [] => Err(format!("`{}` is no answer of this session; they are {}", shortened(name), self.list())),
            _ => Err(format!("`{name}` has several answers here; name one by its number")),
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
            let here = self.answers.iter().filter(|(.., known)| known.as_ref() == Some(text)).map(|(id, ..)| *id);
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
        let ids: Vec<String> = self.answers.iter().map(|(id, ..)| id.to_string()).collect();
        format!("{}, or the names of their models", ids.join(", "))
    }
}

/// Enough of a foreign text to recognise it, without what a terminal would act on.
pub(super) fn shortened(text: &str) -> String {
    let mut out = String::new();
    text.chars().take(60).for_each(|c| crate::judging::push_visible(&mut out, if c == '\n' { ' ' } else { c }));
    out
}
