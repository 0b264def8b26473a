//! Events of the engine's own: recorded, and shown as they are on disk.

use jiff::Timestamp;

use crate::error::Result;
use crate::runner::Observer;
use crate::session::Event;
use crate::session::store::Events;

/// Records `event` and shows it.
pub(crate) fn record(folder: &mut impl Events, event: Event, observer: &mut dyn Observer) -> Result<()> {
    let record = folder.record(event, Timestamp::now())?;
    observer.event(&record, folder.status());
    Ok(())
}

/// Shows the lines of `folder`'s record after the first `known` ones.
pub(crate) fn show_since(folder: &impl Events, known: usize, observer: &mut dyn Observer) {
    for record in folder.records().iter().skip(known) {
        observer.event(record, folder.status());
    }
}

/// Shows the last line of `folder`'s record: what the session recorded by itself (a folder made, a round opened).
pub(crate) fn show_last(folder: &impl Events, observer: &mut dyn Observer) {
    if let Some(record) = folder.records().last() {
        observer.event(record, folder.status());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::session::slot::SlotState;
    use crate::session::store::Sessions;
    use crate::session::store::memory::MemorySessions;
    use crate::session::testing::model;
    use crate::session::{NewSession, Record, SessionKind, Status};

    /// The number of each event that was shown, and the state of the first slot with it.
    #[derive(Default)]
    struct Shown(Vec<(u64, SlotState)>);

    impl Observer for Shown {
        fn event(&mut self, record: &Record, status: &Status) {
            let state = status.models.values().next().map(|entry| entry.state);
            self.0.push((record.seq, state.unwrap()));
        }

        fn live(&mut self, _: &Status) {}
    }

    #[test]
    fn what_is_shown_is_what_was_recorded_with_the_state_after_it_and_what_was_refused_is_not() {
        let new = NewSession {
            base: Path::new(""),
            kind: SessionKind::Team,
            title: "x",
            input: b"x",
            task: None,
            models: vec![model("a")],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            plan: None,
            judges: None,
            pipeline: None,
        };
        let mut session = MemorySessions::default().create(new, Timestamp::now(), &mut rand::rng()).unwrap();
        let slot = *session.status().models.keys().next().unwrap();
        let mut shown = Shown::default();
        show_last(&session, &mut shown);
        record(&mut session, Event::SlotStarted { slot, attempt: 1 }, &mut shown).unwrap();
        assert!(record(&mut session, Event::SlotStarted { slot, attempt: 2 }, &mut shown).is_err());
        assert_eq!(shown.0, [(1, SlotState::Pending), (2, SlotState::Running)]);
        let mut again = Shown::default();
        show_since(&session, 1, &mut again);
        assert_eq!(again.0, [(2, SlotState::Running)]);
    }
}
