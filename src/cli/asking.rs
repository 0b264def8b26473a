//! A person on a terminal is asked about each thing that a fix waits for. Elsewhere, and where nobody wants to be asked, the
//! fix waits for `team respond`.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::context::Context;
use super::printer::Verbosity;
use crate::error::{Error, ErrorKind, Result};
use crate::findings::{FindingId, FindingRecord};
use crate::pipeline::fix::{Ending, Response, ToDecide};
use crate::runner::{Control, Outside};

/// How often it is looked whether the question is still open.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// What can be answered about one finding.
const CHOICES: &str = "  f  have it repaired    d  leave it as it is, for good    s  leave it open\n  \
                       t  end here, and take what there is    a  end here, and take nothing    Ctrl-C  decide later";

/// Whether somebody is there who can and wants to be asked.
pub(super) fn can_ask(context: &Context) -> bool {
    let printer = &context.printer;
    let is_ci = context.environment.text("CI").is_some_and(|value| !matches!(value, "" | "0" | "false"));
    printer.is_interactive()
        && std::io::stdin().is_terminal()
        && !context.global.json
        && printer.verbosity() != Verbosity::Quiet
        && !is_ci
}

/// Asks what is to be decided. `None` where the person wants to do that later.
///
/// # Errors
/// The terminal cannot be read, or a signal ends the program.
pub(super) async fn ask(to_decide: &ToDecide, context: &Context) -> Result<Option<Response>> {
    let control = Control::listen(None).map_err(|source| Error::io("cannot listen to signals", source))?;
    let mut asking = Asking { context, control, typed: Vec::new() };
    let answered = asking.answers(to_decide).await?;
    if answered.is_none() {
        context.printer.note("nothing is decided now");
    }
    Ok(answered)
}

/// A conversation with a person.
struct Asking<'a> {
    context: &'a Context,
    control: Control,
    /// What was typed beyond the last line.
    typed: Vec<u8>,
}

/// What a person says of one finding.
enum Said {
    Fix,
    Decline,
    LeaveOpen,
    End(Ending),
}

impl Asking<'_> {
    async fn answers(&mut self, to_decide: &ToDecide) -> Result<Option<Response>> {
        let mut response = Response::default();
        let mut is_left_open = to_decide.findings.is_empty();
        for (number, record) in (1..).zip(&to_decide.findings) {
            let heading = format!("\n{} of {}: {}", number, to_decide.findings.len(), told(record));
            let Some(said) = self.choice(&heading).await? else { return Ok(None) };
            let note = match said {
                Said::Fix => Some("How? Return for no note to the fixer"),
                Said::Decline => Some("Why? Later rounds and runs are told"),
                Said::LeaveOpen | Said::End(_) => None,
            };
            let note = match note {
                Some(question) => match self.note(question).await? {
                    Some(note) => note,
                    None => return Ok(None),
                },
                None => String::new(),
            };
            match said {
                Said::Fix => response.fix.push(record.id),
                Said::Decline => response.decline.push(record.id),
                Said::LeaveOpen => is_left_open = true,
                Said::End(end) => return Ok(Some(ended(response, end))),
            }
            if !note.is_empty() {
                response.notes.insert(record.id, note);
            }
        }
        // Where nothing is to be repaired, what was left open would only be asked again.
        if is_left_open && response.fix.is_empty() {
            response = ended(response, Ending::Skip);
        }
        Ok(Some(response))
    }

    async fn choice(&mut self, heading: &str) -> Result<Option<Said>> {
        self.context.printer.note(format!("{heading}\n{CHOICES}"));
        loop {
            self.context.printer.note("f, d, s, t or a?");
            let Some(line) = self.line().await? else { return Ok(None) };
            return Ok(Some(match line.trim().to_lowercase().as_str() {
                "f" | "fix" => Said::Fix,
                "d" | "decline" => Said::Decline,
                "s" | "skip" => Said::LeaveOpen,
                "t" | "take" | "approve" => Said::End(Ending::Approve),
                "a" | "abort" => Said::End(Ending::Abort),
                _ => continue,
            }));
        }
    }

    async fn note(&mut self, question: &str) -> Result<Option<String>> {
        loop {
            self.context.printer.note(question);
            let Some(line) = self.line().await? else { return Ok(None) };
            let note = line.trim().to_owned();
            match Response::check_note(&note) {
                Ok(()) => return Ok(Some(note)),
                Err(error) => self.context.printer.error(&error),
            }
        }
    }

    /// The next line that is typed; `None` where there is none, or Ctrl-C was pressed instead.
    async fn line(&mut self) -> Result<Option<String>> {
        loop {
            if let Some(end) = self.typed.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.typed.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            let is_open = Arc::new(AtomicBool::new(true));
            let reading = {
                let is_open = Arc::clone(&is_open);
                tokio::task::spawn_blocking(move || read_while(&is_open))
            };
            tokio::pin!(reading);
            let read = loop {
                tokio::select! {
                    read = &mut reading => break read,
                    outside = self.control.next() => match outside {
                        Outside::Suspend => {
                            self.control.stop_self().map_err(|source| Error::io("cannot stop for Ctrl-Z", source))?;
                        }
                        Outside::Signal(signal) => {
                            is_open.store(false, Ordering::Relaxed);
                            return match signal {
                                nix::libc::SIGINT => Ok(None),
                                other => {
                                    Err(Error::new(ErrorKind::Signal(other), "stopped while a decision was asked for"))
                                }
                            };
                        }
                        // There is none.
                        Outside::Deadline => {}
                    },
                }
            };
            let read = read.map_err(|error| Error::internal(error.to_string()))?;
            let bytes = read.map_err(|source| Error::io("cannot read the terminal", source))?;
            if bytes.is_empty() {
                return Ok(None);
            }
            self.typed.extend(bytes);
        }
    }
}

/// What is typed next, as far as the terminal gives it; empty at its end, or when it is not waited for any more.
fn read_while(is_open: &AtomicBool) -> std::io::Result<Vec<u8>> {
    let input = std::io::stdin();
    while is_open.load(Ordering::Relaxed) {
        let mut fds = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut fds, Some(&LOOK)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = vec![0; 4096];
        match rustix::io::read(&input, &mut bytes) {
            Ok(count) => {
                bytes.truncate(count);
                return Ok(bytes);
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Vec::new())
}

/// What was decided before the end was: what would be repaired is not.
fn ended(response: Response, end: Ending) -> Response {
    let Response { decline, mut notes, .. } = response;
    let kept: BTreeMap<FindingId, String> = decline.iter().filter_map(|id| notes.remove_entry(id)).collect();
    Response { decline, notes: kept, end: Some(end), ..Response::default() }
}

/// A finding in a line.
fn told(record: &FindingRecord) -> String {
    let finding = &record.finding;
    let place = finding.place().map(|place| format!(" at {place}")).unwrap_or_default();
    format!("{} ({}, {}){place}: {}", record.id, finding.severity, record.state, finding.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_keeps_what_was_declined_and_repairs_nothing() {
        let ids: Vec<FindingId> = ["F01", "F02"].map(|id| id.parse().unwrap()).into();
        let notes = ids.iter().map(|id| (*id, format!("on {id}"))).collect();
        let response = Response { fix: vec![ids[0]], decline: vec![ids[1]], notes, ..Response::default() };
        let ended = ended(response, Ending::Skip);
        assert_eq!((ended.fix.len(), ended.decline.as_slice(), ended.end), (0, &ids[1..], Some(Ending::Skip)));
        assert_eq!(ended.notes, [(ids[1], "on F02".to_owned())].into());
    }
}
