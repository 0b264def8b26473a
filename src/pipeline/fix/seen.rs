//! What of a change the reviews of a fix were sent, and what not.

use std::collections::BTreeMap;

use super::progress::Progress;
use super::request::FixPlan;
use super::store::{Store, failed};
use crate::error::Result;
use crate::git::CommitId;
use crate::pipeline::gate::{Coverage, Limits, look_at_diff};
use crate::report::ci::SeenFile;
use crate::secrets::Redactor;
use crate::session::ReviewExtent;

/// What is sent of the change from one commit to another; `None` where they hold the same.
pub(super) async fn sent_of(
    store: &Store,
    plan: &FixPlan,
    redactor: &Redactor,
    (from, to): (&CommitId, &CommitId),
) -> Result<Option<Coverage>> {
    let git = store.git();
    let files = git.changed_files(from, to).await.map_err(failed("list what was changed"))?;
    if files.is_empty() {
        return Ok(None);
    }
    let limits =
        Limits { max_bytes: plan.fix.max_bytes, ignore: &plan.fix.ignore, section: "review", sessions: &[], redactor };
    look_at_diff(git, (from, to), &files, &limits).await.map(Some)
}

/// Every file of the change: looked at, where the last review of the whole change was sent it and every later one what was
/// changed of it since.
pub(super) async fn seen(
    store: &Store,
    plan: &FixPlan,
    progress: &Progress,
    redactor: &Redactor,
) -> Result<Vec<SeenFile>> {
    let mut reviews = progress.reviews.iter();
    let first = reviews.next().map(|_| plan.review.files.clone()).unwrap_or_default();
    let mut seen: BTreeMap<String, SeenFile> = first.into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut last = progress.begun.as_ref().map(|(_, head)| head.as_str());
    for review in reviews {
        let from = match review.extent {
            ReviewExtent::Full => plan.fix.from.as_str(),
            ReviewExtent::Delta => last.unwrap_or(plan.fix.from.as_str()),
        };
        let (from, to) = (store.commit_of(from).await?, store.commit_of(&review.commit).await?);
        let sent = sent_of(store, plan, redactor, (&from, &to)).await?;
        for file in sent.map(|sent| sent.files).unwrap_or_default() {
            let before = seen.get(&file.path);
            // What a repair changed of a file is not what the file was to be looked at for.
            if review.extent == ReviewExtent::Full || file.omitted.is_some() || before.is_none() {
                seen.insert(file.path.clone(), file);
            }
        }
        last = Some(&review.commit);
    }
    Ok(seen.into_values().collect())
}
