//! Judges are asked, in a round's folder or in that of a further turn, and their replies are read.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::record::record;
use super::services::Services;
use crate::config::{ResolvedModel, Target};
use crate::error::Result;
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
        let sha256 = write_prompt(prompts, assignment, question, form_of(&model), &path)?;
        record(folder, Event::PromptWritten { judge, sha256 }, &mut *asking.observer)?;
        let purpose = Purpose::Ballot { schema: schema(assignment) };
        jobs.push(SlotJob { id: judge, model, prompt: path, purpose });
    }
    let shared = asking.services.shared(&asking.session, asking.limits, Checks::default(), folder.manifest());
    let at_once = asking.services.at_once();
    run_panel(folder, jobs, shared, at_once, &mut *asking.control, &mut *asking.observer).await?;

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
                record(folder, event, &mut *asking.observer)?;
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

fn write_prompt(
    prompts: &JudgePrompts<'_>,
    assignment: &Assignment,
    question: &Question,
    form: BallotForm,
    path: &Path,
) -> Result<Sha256Hash> {
    let mut file = HashingFile::create(path)?;
    let written: Result<(), PromptError> = match question {
        Question::Votes => prompts.write(assignment, form, &mut file),
        Question::Rest { reply, context_tokens } => {
            prompts.write_repair(assignment, form, reply, *context_tokens, &mut file)
        }
    };
    written?;
    file.finish()
}

/// A new file whose hash is known when it is finished.
struct HashingFile {
    file: BufWriter<fs_err::File>,
    hasher: sha2::Sha256,
}

impl HashingFile {
    fn create(path: &Path) -> Result<Self> {
        Ok(Self { file: BufWriter::new(fs::create_exclusive(path)?), hasher: <sha2::Sha256 as sha2::Digest>::new() })
    }

    fn finish(mut self) -> Result<Sha256Hash> {
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        Ok(Sha256Hash::finish(self.hasher))
    }
}

impl Write for HashingFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        sha2::Digest::update(&mut self.hasher, &bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
