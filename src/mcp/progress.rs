//! What a client that waits is told meanwhile.

use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;

use super::blocking::blocking;
use super::card::progress_line;
use crate::session::{Layout, View};

/// How long a call that waits is silent at most.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// Tells the client that waits how far it is, where it wants to know.
pub(super) struct Progress<'a> {
    context: &'a RequestContext<RoleServer>,
    token: Option<ProgressToken>,
    began: Instant,
    last: f64,
    told: Option<(String, Instant)>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(context: &'a RequestContext<RoleServer>) -> Self {
        Self { context, token: context.meta.get_progress_token(), began: Instant::now(), last: 0.0, told: None }
    }

    /// Tells where the session at `layout` is. The number is seconds: it grows with every notification, as it must.
    pub(super) async fn tell(&mut self, layout: Option<Layout>) {
        let Some(token) = self.token.clone() else { return };
        let line = match layout {
            Some(layout) => {
                let line = blocking(move || Ok(progress_line(&View::read(layout)?))).await;
                line.unwrap_or_else(|_| "at work".to_owned())
            }
            None => "starting".to_owned(),
        };
        // Many events change nothing that is told here.
        if self.told.as_ref().is_some_and(|(told, at)| *told == line && at.elapsed() < SILENCE) {
            return;
        }
        self.told = Some((line.clone(), Instant::now()));
        let seconds = self.began.elapsed().as_secs_f64();
        self.last = if seconds > self.last { seconds } else { self.last + 0.001 };
        let told = ProgressNotificationParam::new(token, self.last).with_message(line);
        // Who does not listen any more is noticed elsewhere.
        self.context.peer.notify_progress(told).await.ok();
    }
}
