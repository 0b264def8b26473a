//! What the parts below warn about, on standard error like every other message.

use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, layer};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::report::Aside;

/// Writes the warnings of this crate to `aside` from now on; what its dependencies note is not for people.
pub(super) fn show(aside: Aside) {
    let ours = Targets::new().with_target("team", Level::WARN);
    let lines = layer().event_format(Plain).with_ansi(false).with_writer(move || aside.clone());
    // A test may have set one up before.
    tracing_subscriber::registry().with(lines.with_filter(ours)).try_init().ok();
}

/// `warning: what happened`, as the printer writes it.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        writer.write_str("warning: ")?;
        ctx.field_format().format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
