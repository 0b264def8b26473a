//! Models for unit tests.

use crate::model::{ModelIdentity, ModelSettings, OutputFormat, ResolvedModel, Target};

/// A model of this name that nothing asks.
pub(crate) fn model(name: &str) -> ResolvedModel {
    ResolvedModel {
        name: name.to_owned(),
        identity: ModelIdentity(format!("replay:{name}")),
        target: Target::Replay { file: name.into(), output: OutputFormat::Text, pace: None },
        settings: ModelSettings::default(),
    }
}
