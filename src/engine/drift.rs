//! What of a session is not as it was when it began: found before anybody is asked and anything is written.

use std::collections::BTreeMap;

use super::ask::changed_prompts;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::Sha256Hash;
use crate::session::{Drift, Event, History, Layout, PanelFolder, Record, SessionError, Turn, accepted};

/// Looks for what is not as it was recorded at the beginning.
pub(crate) struct Drifted<'a> {
    session: &'a Layout,
    /// What was accepted before.
    known: BTreeMap<String, (Sha256Hash, usize)>,
    pub(crate) found: Drift,
}

impl<'a> Drifted<'a> {
    /// A look at the session in `session`, whose record is `records`.
    pub(crate) fn new(session: &'a Layout, records: &[Record]) -> Self {
        Self { session, known: accepted(records), found: Drift::default() }
    }

    /// Looks at one folder of the session.
    pub(crate) fn look(&mut self, records: &[Record], layout: &Layout) -> Result<()> {
        let Some(Event::Created { tool, input, task, manifest, .. }) = records.first().map(|record| &record.event)
        else {
            return Ok(());
        };
        let ours = env!("CARGO_PKG_VERSION");
        if tool != ours {
            self.found.differences.push(format!("it was begun by `team` {tool}, and this is {ours}"));
        }
        let files = [(layout.input(), *input), (layout.task(), *task), (layout.manifest(), Some(*manifest))];
        for (path, recorded) in files {
            let Some(recorded) = recorded else { continue };
            let bytes = fs_err::read(&path).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => SessionError::Missing(path.clone()),
                _ => SessionError::Io(error),
            })?;
            let file = path.strip_prefix(self.session.root()).unwrap_or(&path).display().to_string();
            let expected = self.known.get(&file).map_or(recorded, |(hash, _)| *hash);
            let found = Sha256Hash::of(&bytes);
            if found != expected {
                self.found.differences.push(format!("`{}` was changed", path.display()));
                self.found.files.insert(file, found);
            }
        }
        Ok(())
    }

    /// Looks at the prompts that were written in a folder and in its further turns, and checks the replies to them.
    ///
    /// A prompt is no file whose hash is accepted: what was written once is written again as it was.
    ///
    /// # Errors
    /// A complete reply is missing, changed or unknown to the record.
    pub(crate) fn look_at_turns(&mut self, folder: &PanelFolder) -> Result<()> {
        let second = folder.layout().turn(Turn::SecondPass);
        let (repair, fresh) = (folder.layout().turn(Turn::Repair), folder.layout().turn(Turn::Fresh));
        let turns = [repair, fresh, second.turn(Turn::Repair), second];
        let mut changed = changed_prompts(folder.layout(), folder.records())?;
        for turn in turns {
            if History::read(&turn.events()).is_ok_and(|history| !history.records.is_empty()) {
                let inside = PanelFolder::open(turn, &folder.status().session)?;
                inside.check_answers()?;
                changed.extend(changed_prompts(inside.layout(), inside.records())?);
            }
        }
        let told = |path: &std::path::PathBuf| match path.exists() {
            true => format!("`{}` is not the prompt that was recorded", path.display()),
            false => format!("`{}` is missing", path.display()),
        };
        self.found.differences.extend(changed.iter().map(told));
        Ok(())
    }

    /// What was found, if nothing was or all of it is `is_accepted`.
    pub(crate) fn accept(self, id: &str, is_accepted: bool) -> Result<Drift> {
        let mut drift = self.found;
        drift.differences.sort();
        drift.differences.dedup();
        if drift.differences.is_empty() || is_accepted {
            return Ok(drift);
        }
        let error = Error::new(ErrorKind::Drifted, format!("`{id}` is not as it was when it began"));
        let error = drift.differences.iter().fold(error, |error, difference| error.hint(difference));
        Err(error.hint("put it back, or go on all the same with `--accept-drift`; the verdict will say so"))
    }
}

/// The texts sent to models that are not those of the beginning; `now` are the hashes of those in use.
pub(crate) fn drifted_prompts(records: &[Record], now: BTreeMap<String, Sha256Hash>) -> Vec<String> {
    let Some(Event::Created { prompts, .. }) = records.first().map(|record| &record.event) else { return Vec::new() };
    let names = prompts.keys().chain(now.keys().filter(|name| !prompts.contains_key(*name)));
    let changed = names.filter(|name| prompts.get(*name) != now.get(*name));
    changed.map(|name| format!("the prompt text `{name}` was changed")).collect()
}
