//! `manifest.json`: anonymous id to model, the only de-anonymiser. Owner: [`super`]; written once, at creation.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use rand::CryptoRng;
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionError;
use super::read;
use crate::ids::{DateTime, FormatVersion, Sha256Hash, SlotId};
use crate::model::ResolvedModel;
use crate::secrets::{Naming, Placeholder};

/// Who is who in a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of this format.
    pub version: FormatVersion,
    /// When it was made.
    #[schemars(with = "DateTime")]
    pub created: Timestamp,
    /// The model behind each id.
    pub models: BTreeMap<SlotId, Member>,
    /// `shuffle_order[i]` is the id given to the i-th model as listed by the user.
    pub shuffle_order: Vec<SlotId>,
    /// Random; hides the manifest's hash from guessing.
    pub nonce: String,
    /// The judges that are to vote on this panel's answers, in the user's order, where they are named and not the panel
    /// itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judges: Option<Vec<ResolvedModel>>,
    /// In a pipeline session, which asks nobody itself: who takes part in the panels inside of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cast: Option<Cast>,
}

/// Who takes part in a pipeline session, besides the judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cast {
    /// Who reviews, in the user's order.
    pub panel: Vec<ResolvedModel>,
    /// Who repairs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fixer: Option<Box<ResolvedModel>>,
}

/// One member of a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The name as the user wrote it.
    pub model: String,
    /// When the id was drawn.
    #[schemars(with = "DateTime")]
    pub assigned_at: Timestamp,
    /// What the name stood for then.
    pub resolved: ResolvedModel,
}

impl Manifest {
    /// Draws an id for each model in a random order.
    #[must_use]
    pub fn draw(models: Vec<ResolvedModel>, now: Timestamp, rng: &mut impl CryptoRng) -> Self {
        let mut order: Vec<SlotId> = SlotId::panel(models.len()).collect();
        order.shuffle(rng);
        let members = order
            .iter()
            .zip(models)
            .map(|(id, resolved)| (*id, Member { model: resolved.name.clone(), assigned_at: now, resolved }))
            .collect();
        let mut nonce = [0_u8; 16];
        rng.fill_bytes(&mut nonce);
        Self {
            version: FormatVersion::CURRENT,
            created: now,
            models: members,
            shuffle_order: order,
            nonce: Sha256Hash::of(&nonce).to_string(),
            judges: None,
            cast: None,
        }
    }

    /// Reads and checks a manifest.
    pub fn read(path: &Path) -> Result<Self, SessionError> {
        Self::checked(path, read::json(path)?)
    }

    /// The same of the bytes of the file at `path`.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SessionError> {
        Self::checked(path, read::parse(path, bytes)?)
    }

    fn checked(path: &Path, manifest: Self) -> Result<Self, SessionError> {
        let mut drawn = manifest.shuffle_order.clone();
        drawn.sort_unstable();
        if drawn.iter().ne(manifest.models.keys()) {
            return Err(SessionError::Malformed {
                path: path.to_owned(),
                why: "`shuffleOrder` does not list each id of `models` once".to_owned(),
            });
        }
        Ok(manifest)
    }

    /// What a placeholder in a text of the session stands for.
    #[must_use]
    pub fn name_for(&self, placeholder: Placeholder) -> Option<String> {
        let member = self.member(placeholder.slot)?;
        let words = member.resolved.naming_words();
        match placeholder.naming {
            Naming::Model => Some(member.model.clone()),
            Naming::Program => words.program.into_iter().next(),
            Naming::Key => words.key.into_iter().next(),
        }
    }

    /// The member behind `slot`.
    #[must_use]
    pub fn member(&self, slot: SlotId) -> Option<&Member> {
        self.models.get(&slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::model;
    use super::*;

    #[test]
    fn every_model_gets_one_id_and_the_order_is_recorded() {
        let models = (0..12).map(|n| model(&format!("m{n}"))).collect();
        let manifest = Manifest::draw(models, Timestamp::UNIX_EPOCH, &mut rand::rng());
        for (position, id) in manifest.shuffle_order.iter().enumerate() {
            assert_eq!(manifest.models[id].model, format!("m{position}"));
        }
        assert_eq!(manifest.models.len(), 12);
        assert_eq!(manifest.nonce.len(), 64);
    }

    #[test]
    fn ids_are_drawn_not_dealt_in_order() {
        let draw = || {
            let models = (0..20).map(|n| model(&format!("m{n}"))).collect();
            Manifest::draw(models, Timestamp::UNIX_EPOCH, &mut rand::rng()).shuffle_order
        };
        // Two equal draws of 20 have a chance of one in 20!.
        assert_ne!(draw(), draw());
    }
}
