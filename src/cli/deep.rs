//! `team doctor --deep`: really asks each member one short question, the same way as a run does.

use std::time::Duration;

use super::context::Context;
use super::doctor::Finding;
use super::panel::{limits, prepare};
use crate::config::ResolvedModel;
use crate::engine::{self, Keeping, RunRequest, Terms};
use crate::error::Result;
use crate::fs::{FolderUse, ProcessFolder};
use crate::report::{Silent, bytes};
use crate::runner::{Checks, Limits};
use crate::secrets::reveal;
use crate::session::slot::SlotState;
use crate::session::{Manifest, SessionKind, SlotStatus, Status};

const QUESTION: &str = "Reply with the single word: ready\n";

/// How long a member may take, where no limit is configured: a check should end.
const PATIENCE: Duration = Duration::from_secs(120);

/// One finding per model, in order. The session is a temporary one and is removed.
pub(super) async fn ask_each(context: &Context, models: Vec<ResolvedModel>) -> Vec<Finding> {
    let count = models.len();
    match ask(context, models).await {
        Ok(findings) => findings,
        Err(error) => vec![Finding::failed(format!("could not be asked: {}", error.chain())); count],
    }
}

async fn ask(context: &Context, models: Vec<ResolvedModel>) -> Result<Vec<Finding>> {
    if models.is_empty() {
        return Ok(Vec::new());
    }
    let config = context.load(context.global.settings())?;
    let folder = ProcessFolder::make(FolderUse::Doctor)?;
    let mut prepared = prepare(context, &config, &models.iter().collect::<Vec<_>>(), None, false).await?;
    let configured = limits(config.settings());
    let request = RunRequest {
        kind: SessionKind::Team,
        keeping: Keeping::Folder(folder.path().to_owned()),
        title: "doctor".to_owned(),
        input: QUESTION.to_owned(),
        models,
        chosen: None,
        terms: Terms {
            limits: Limits { timeout: configured.timeout.or(Some(PATIENCE)), ..configured },
            ..Terms::default()
        },
        checks: Checks::default(),
        strict: false,
        judge: None,
        notes: Vec::new(),
        workspace: None,
    };
    let outcome = engine::run(
        request,
        engine::Context {
            services: &prepared.services,
            control: &mut prepared.control,
            observer: &mut Silent,
            announce: &mut |_, _| {},
        },
        &mut rand::rng(),
    )
    .await;
    prepared.services.stop().await;
    let layout = outcome?.layout;
    // Nobody votes here, so names may be put to states at once.
    let manifest = Manifest::read(&layout.manifest())?;
    let status = Status::read(&layout.status())?;
    Ok(manifest.shuffle_order.iter().map(|slot| finding(status.models.get(slot), &manifest)).collect())
}

fn finding(slot: Option<&SlotStatus>, manifest: &Manifest) -> Finding {
    match slot {
        Some(slot) if slot.state == SlotState::Completed => {
            Finding::good(format!("answered, {}", bytes(slot.output_size.unwrap_or(0))))
        }
        Some(slot) => match &slot.error {
            Some(error) => {
                let detail = reveal(&error.detail, |placeholder| manifest.name_for(placeholder));
                let found = Finding::failed(format!("{}: {detail}", error.reason.as_str()));
                // The log went with the session.
                match error.reason.points_to_the_log() {
                    true => {
                        found.hint(format!("`team run -m` this model with \"{}\" keeps its log", QUESTION.trim_end()))
                    }
                    false => found.hint(&error.next_step),
                }
            }
            None => Finding::failed(slot.state.as_str()),
        },
        None => Finding::failed("no answer is on record"),
    }
}
