//! `team status --watch`: a run in another terminal, shown as it shows itself there. Reads only.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::args::StatusArgs;
use super::context::Context;
use super::panel::starts;
use super::printer::Verbosity;
use super::sessions::{find, show_status};
use crate::error::{Error, ExitCode, Result};
use crate::fs::{LockState, OwnerLock};
use crate::report::{JsonLines, LiveLines, PlainLines, SessionPlace, Silent, Written};
use crate::runner::{Control, Observer, Outside};
use crate::session::{Event, Follower, Layout, Meta, SessionError};

/// How often the session is looked at.
const POLL: Duration = Duration::from_millis(200);

/// Follows a session until nobody works on it, then shows it as `team status` does. Whoever leaves earlier, by Ctrl-C,
/// leaves the run alone.
pub(super) async fn watch(args: &StatusArgs, context: &Context) -> Result<ExitCode> {
    let layout = find(&args.session, context)?;
    if !is_owned(&layout)? && !context.global.json {
        return show_status(layout, context);
    }
    // Of a session that is being made the rest may not exist yet.
    let id = Meta::read(&layout.meta())?.session_id;
    let mut control = Control::listen(None).map_err(|source| Error::io("cannot listen to signals", source))?;
    if !context.global.json {
        context.printer.note(format!("watching `{id}`; Ctrl-C ends the watch only"));
    }
    let (mut observer, written) = observer(context, &layout);
    let mut following = Following::new(layout.clone(), id);
    observer.enter(".");
    loop {
        // Asked first: what the last owner wrote before it left is then seen.
        let owned = is_owned(&layout)?;
        following.look(&mut *observer)?;
        if !owned || reader_has_left() {
            break;
        }
        tokio::select! {
            outside = control.next() => match outside {
                Outside::Signal(signal) => return Ok(ExitCode::signal(signal)),
                Outside::Suspend => {
                    observer.suspend();
                    control.stop_self().map_err(|source| Error::io("cannot stop for Ctrl-Z", source))?;
                }
                // There is none.
                Outside::Deadline => {}
            },
            () = tokio::time::sleep(POLL) => {}
        }
    }
    drop(observer);
    match written {
        Some(written) => {
            written.check().map_err(|source| Error::io("cannot write to standard output", source))?;
            Ok(ExitCode::DONE)
        }
        None => show_status(layout, context),
    }
}

fn is_owned(layout: &Layout) -> Result<bool> {
    Ok(OwnerLock::probe(&layout.lock())? != LockState::Free)
}

/// What is shown is the data here, so all of it goes to standard output.
fn observer(context: &Context, layout: &Layout) -> (Box<dyn Observer>, Option<Written>) {
    let printer = &context.printer;
    let out = std::io::stdout;
    if context.global.json {
        let place = SessionPlace::default();
        place.set(layout.root());
        let (events, written) = JsonLines::new(out(), place);
        return (Box::new(events), Some(written));
    }
    let people: Box<dyn Observer> = match (printer.verbosity(), printer.live_data()) {
        (Verbosity::Quiet, _) => Box::new(Silent),
        (verbosity, Some(ink)) => Box::new(LiveLines::new(out(), ink, starts(verbosity), context.aside.clone())),
        (_, None) => Box::new(PlainLines::new(out(), Instant::now())),
    };
    (people, None)
}

/// Whether nobody reads standard output any more (`team status --watch | head -1`).
fn reader_has_left() -> bool {
    let out = std::io::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    let looked = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    looked.is_ok() && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}

/// A session's record, that of its newest round of votes and those of the turns in it, told in the order in which they
/// were written.
struct Following {
    session: Folder,
    /// The path of the folder that was told of last.
    place: String,
}

/// One of the folders that are followed.
struct Folder {
    record: Follower,
    layout: Layout,
    /// What it is called, from the session's own folder.
    path: String,
    id: String,
    /// The newest folder in it. It is followed also after its end: a round that was stopped may be resumed.
    inside: Option<Box<Folder>>,
}

impl Following {
    fn new(layout: Layout, id: String) -> Self {
        Self { session: Folder::new(layout, ".".to_owned(), id), place: ".".to_owned() }
    }

    /// Tells what has come since the last look.
    fn look(&mut self, observer: &mut dyn Observer) -> Result<(), SessionError> {
        self.session.tell(&mut self.place, observer)?;
        observer.live(&self.session.at(&self.place).record.live_status());
        Ok(())
    }
}

impl Folder {
    fn new(layout: Layout, path: String, id: String) -> Self {
        Self { record: Follower::new(layout.clone(), id.clone()), layout, path, id, inside: None }
    }

    /// This folder or the one inside of it that is at `place`.
    fn at(&self, place: &str) -> &Self {
        match &self.inside {
            Some(inside) if self.path != place => inside.at(place),
            _ => self,
        }
    }

    /// Tells what is new in the folder and in those inside of it.
    fn tell(&mut self, place: &mut String, observer: &mut dyn Observer) -> Result<(), SessionError> {
        self.record.look()?;
        while let Some(record) = self.record.next_event()? {
            // While a folder inside goes on this one records nothing: what comes now comes after it.
            if let Some(inside) = &mut self.inside {
                inside.tell(place, observer)?;
            }
            if *place != self.path {
                place.clone_from(&self.path);
                observer.enter(place);
            }
            observer.event(&record, self.record.status());
            let (layout, name) = match record.event {
                Event::RoundOpened { round } => (self.layout.round(round), round.folder()),
                Event::TurnOpened { turn, .. } => (self.layout.turn(turn), turn.folder().to_owned()),
                Event::PanelOpened { panel } => (self.layout.inner(panel), panel.folder()),
                _ => continue,
            };
            let path = if self.path == "." { name } else { format!("{}/{name}", self.path) };
            place.clone_from(&path);
            observer.enter(place);
            self.inside = Some(Box::new(Self::new(layout, path, self.id.clone())));
        }
        match &mut self.inside {
            Some(inside) => inside.tell(place, observer),
            None => Ok(()),
        }
    }
}
