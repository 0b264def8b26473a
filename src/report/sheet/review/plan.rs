//! What a review or a fix was asked for, as the plan on its session's record tells it. Only what is shown is read.

use serde::Deserialize;

use crate::config::FailOn;
use crate::findings::MissingSeats;
use crate::report::ci::SeenFile;
use crate::session::{Event, Record};

/// The plan.
#[derive(Debug, Deserialize)]
pub(super) struct Plan {
    pub(super) review: Work,
    #[serde(default)]
    pub(super) fix: Option<FixTerms>,
}

/// What is reviewed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Work {
    pub(super) told: String,
    #[serde(default)]
    pub(super) files: Vec<SeenFile>,
    #[serde(default)]
    pub(super) intent: Option<String>,
    #[serde(default)]
    pub(super) fail_on: Option<FailOn>,
    #[serde(default)]
    pub(super) quorum: Option<u32>,
    #[serde(default)]
    pub(super) missing: MissingSeats,
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

/// What a fix is held to besides.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FixTerms {
    #[serde(default)]
    pub(super) max_rounds: Option<u32>,
    #[serde(default)]
    pub(super) test: Vec<String>,
    #[serde(default)]
    pub(super) lint: Vec<String>,
}

impl Plan {
    /// The plan of the session with these records; `None` of what is no review.
    pub(super) fn read(records: &[Record]) -> Option<Self> {
        let Event::Created { plan, .. } = &records.first()?.event else { return None };
        Self::deserialize(plan.as_deref()?).ok()
    }
}
