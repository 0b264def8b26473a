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
use crate::report::{JsonLines, LiveLines, PlainLines, Silent, Written};
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
    let (mut observer, written) = observer(context);
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
fn observer(context: &Context) -> (Box<dyn Observer>, Option<Written>) {
    let printer = &context.printer;
    let out = std::io::stdout;
    if context.global.json {
        let (events, written) = JsonLines::new(out());
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
    /// From the session inwards: the last one is what goes on.
    folders: Vec<Folder>,
    id: String,
}

/// One of the folders that are followed.
struct Folder {
    record: Follower,
    layout: Layout,
    /// What it is called, from the session's own folder.
    path: String,
}

impl Following {
    fn new(layout: Layout, id: String) -> Self {
        let record = Follower::new(layout.clone(), id.clone());
        Self { folders: vec![Folder { record, layout, path: ".".to_owned() }], id }
    }

    /// Tells what has come since the last look.
    fn look(&mut self, observer: &mut dyn Observer) -> Result<(), SessionError> {
        self.tell(0, observer)?;
        if let Some(innermost) = self.folders.last() {
            observer.live(&innermost.record.live_status());
        }
        Ok(())
    }

    /// Tells what is new in the folder at `depth` and in those inside of it.
    fn tell(&mut self, depth: usize, observer: &mut dyn Observer) -> Result<(), SessionError> {
        let Some(folder) = self.folders.get_mut(depth) else { return Ok(()) };
        folder.record.look()?;
        while let Some(record) = self.folders[depth].record.next_event()? {
            // While a folder inside goes on this one records nothing: what comes now comes after it.
            if self.folders.len() > depth + 1 {
                self.tell(depth + 1, observer)?;
                self.folders.truncate(depth + 1);
                observer.enter(&self.folders[depth].path);
            }
            let folder = &self.folders[depth];
            observer.event(&record, folder.record.status());
            let (layout, name) = match record.event {
                Event::RoundOpened { round } => (folder.layout.round(round), round.folder()),
                Event::TurnOpened { turn, .. } => {
                    (folder.layout.turn(turn), format!("{}/{}", folder.path, turn.folder()))
                }
                _ => continue,
            };
            observer.enter(&name);
            let record = Follower::new(layout.clone(), self.id.clone());
            self.folders.push(Folder { record, layout, path: name });
        }
        self.tell(depth + 1, observer)
    }
}
