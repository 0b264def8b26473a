//! Judges are asked, in a round's folder or in that of a further turn, and their replies are read.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::record::record;
use super::services::{Panel, Services};
use crate::config::{ResolvedModel, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{Assignment, Ballot, BallotForm, JudgePrompts, PromptError, parse, schema};
use crate::runner::{Checks, Control, Limits, Observer, Purpose, SlotJob, run_panel};
use crate::session::slot::SlotState;
use crate::session::{Event, Layout, PanelFolder};

/// What surrounds the asking.
pub(super) struct Asking<'a> {
    pub(super) services: &'a Services,
    /// Of the whole session, whatever the folder of the turn.
    pub(super) session: Layout,
    pub(super) limits: Limits,
    pub(super) control: &'a mut Control,
    pub(super) observer: &'a mut dyn Observer,
}

/// How a judge's turn ended: its state, and its ballot with the hash of the reply where it completed.
pub(super) struct Reply {
    pub(super) state: SlotState,
    pub(super) ballot: Option<(Sha256Hash, Ballot)>,
}

/// What a judge is asked.
pub(super) enum Question {
    /// For a vote on every answer that it is shown.
    Votes,
    /// For what its earlier reply has no vote on.
    Rest {
        /// The reply.
        reply: Vec<u8>,
        /// The judge's declared context.
        context_tokens: Option<u64>,
    },
}

/// Writes a prompt for each assignment, asks, and reads what came back. Of a judge that did not complete nothing is read.
///
/// What is on record already (a prompt, a reply, a ballot) is not done again.
pub(super) async fn ask(
    folder: &mut PanelFolder,
    prompts: &JudgePrompts<'_>,
    questions: &[(Assignment, Question)],
    asking: &mut Asking<'_>,
) -> Result<BTreeMap<SlotId, Reply>> {
    let mut jobs = Vec::new();
    for (assignment, question) in questions {
        let judge = assignment.judge;
        let Some(member) = folder.manifest().member(judge) else { continue };
        let model = member.resolved.clone();
        let path = folder.layout().prompt(judge);
        let written = Prompt { prompts, assignment, question, form: form_of(&model) };
        match prompt_on_record(folder, judge) {
            Some(recorded) => written.check(recorded, &path)?,
            None => {
                let sha256 = written.write(&path)?;
                fault::reach(Point::PromptWritten);
                record(folder, Event::PromptWritten { judge, sha256 }, &mut *asking.observer)?;
                fault::reach(Point::PromptRecorded);
            }
        }
        if folder.status().models.get(&judge).is_none_or(|entry| entry.state != SlotState::Pending) {
            continue;
        }
        let purpose = Purpose::Ballot { schema: schema(assignment) };
        jobs.push(SlotJob { id: judge, model, prompt: path, purpose });
    }
    if !jobs.is_empty() {
        let panel = Panel { session: &asking.session, manifest: folder.manifest(), workspace: None };
        let shared = asking.services.shared(panel, asking.limits, Checks::default());
        let at_once = asking.services.at_once();
        run_panel(folder, jobs, shared, at_once, &mut *asking.control, &mut *asking.observer).await?;
    }

    let mut replies = BTreeMap::new();
    for (assignment, _) in questions {
        let judge = assignment.judge;
        let Some((state, sha256)) = folder.status().models.get(&judge).map(|entry| (entry.state, entry.sha256)) else {
            continue;
        };
        let ballot = match (state, sha256) {
            (SlotState::Completed, Some(sha256)) => {
                let bytes = fs_err::read(folder.layout().response(judge))?;
                let ballot = parse(&String::from_utf8_lossy(&bytes), assignment);
                let (votes, missing) = (ballot.votes.len() as u32, ballot.missing.len() as u32);
                let event = Event::Ballot { judge, response: sha256, votes, missing };
                if !folder.records().iter().any(|record| record.event == event) {
                    record(folder, event, &mut *asking.observer)?;
                    fault::reach(Point::BallotRecorded);
                }
                Some((sha256, ballot))
            }
            _ => None,
        };
        replies.insert(judge, Reply { state, ballot });
    }
    folder.settle()?;
    Ok(replies)
}

/// Providers that can are held to the JSON schema.
pub(super) fn form_of(model: &ResolvedModel) -> BallotForm {
    match &model.target {
        Target::Http { provider, .. } if provider.json_schema => BallotForm::Json,
        Target::Local { .. } => BallotForm::Json,
        Target::Http { .. } | Target::Process { .. } | Target::Replay { .. } => BallotForm::Blocks,
    }
}

/// The newest prompt of `judge` on record.
fn prompt_on_record(folder: &PanelFolder, judge: SlotId) -> Option<Sha256Hash> {
    folder.records().iter().rev().find_map(|record| match &record.event {
        Event::PromptWritten { judge: of, sha256 } if *of == judge => Some(*sha256),
        _ => None,
    })
}

/// The prompt of one judge.
struct Prompt<'a, 'p> {
    prompts: &'a JudgePrompts<'p>,
    assignment: &'a Assignment,
    question: &'a Question,
    form: BallotForm,
}

impl Prompt<'_, '_> {
    /// Writes it to `path`; what a process that died left there is replaced.
    fn write(&self, path: &Path) -> Result<Sha256Hash> {
        fs::remove_if_exists(path)?;
        let mut file = Hashing::new(BufWriter::new(fs::create_exclusive(path)?));
        self.render(&mut file)?;
        file.flush()?;
        file.inner.get_ref().sync_data()?;
        Ok(file.hash())
    }

    /// Fails unless it is the one that the judge was asked with.
    fn check(&self, recorded: Sha256Hash, path: &Path) -> Result<()> {
        let mut nowhere = Hashing::new(std::io::sink());
        self.render(&mut nowhere)?;
        if nowhere.hash() != recorded {
            let judge = self.assignment.judge;
            return Err(Error::usage(format!("judge {judge} would not be asked what it was asked before"))
                .hint("`team judge` has the answers judged anew, in a round of its own"));
        }
        if Sha256Hash::of(&fs_err::read(path)?) != recorded {
            return Err(Error::new(
                ErrorKind::Integrity,
                format!("`{}` is not the prompt that was recorded", path.display()),
            )
            .hint("it was changed after it was written; `team judge` has the answers judged anew"));
        }
        Ok(())
    }

    fn render(&self, out: &mut impl Write) -> Result<()> {
        let written: Result<(), PromptError> = match self.question {
            Question::Votes => self.prompts.write(self.assignment, self.form, out),
            Question::Rest { reply, context_tokens } => {
                self.prompts.write_repair(self.assignment, self.form, reply, *context_tokens, out)
            }
        };
        Ok(written?)
    }
}

/// Where something is written, with the hash of what was.
struct Hashing<W> {
    inner: W,
    hasher: sha2::Sha256,
}

impl<W: Write> Hashing<W> {
    fn new(inner: W) -> Self {
        Self { inner, hasher: <sha2::Sha256 as sha2::Digest>::new() }
    }

    fn hash(self) -> Sha256Hash {
        Sha256Hash::finish(self.hasher)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        sha2::Digest::update(&mut self.hasher, &bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
