//! The managed local model, when a panel needs it: provisioned before the session exists, one server for the command.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::config::{ResolvedModel, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::runner::Control;
use crate::slots::local::{self, LocalServer, Progress};

/// Starts the local model's server if one of `models` is it. `progress` is told what is fetched and where it is kept.
pub async fn local_server(
    models: &[&ResolvedModel],
    control: &mut Control,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Option<Arc<LocalServer>>> {
    let seats = models.iter().filter(|model| matches!(model.target, Target::Local { .. })).count();
    if seats == 0 {
        return Ok(None);
    }
    let stop = CancellationToken::new();
    let starting = async {
        let model = local::provision(&local::cache_dir()?, progress, &stop).await?;
        LocalServer::start(&model, seats.min(local::PARALLEL), &stop).await
    };
    match control.or_stop(starting).await {
        Some(Ok(server)) => Ok(Some(Arc::new(server))),
        Some(Err(error)) => Err(error.into()),
        None => {
            stop.cancel();
            let signal = match control.stop() {
                Some(crate::runner::StopAll::Signal(signal)) => signal,
                _ => 2,
            };
            Err(Error::new(ErrorKind::Signal(signal), "stopped while the local model was being set up")
                .hint("what is fetched so far is used the next time"))
        }
    }
}
