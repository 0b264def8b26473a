//! Work that waits for the disk, away from the threads that serve the client.

use crate::error::{Error, Result};

/// Does `work` on a thread of its own.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Error::internal("reading was cut off").with_source(error)),
    }
}
