//! Judges are asked, in a round's folder or in that of a further turn, and their replies are read; so are members of a
//! panel whose vote cannot be read, and reviewers whose findings cannot.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::record::record;
use super::services::{Panel, Services};
use crate::config::{ResolvedModel, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{Assignment, Ballot, BallotForm, JudgePrompts, PromptError, parse, schema};
use crate::runner::{Checks, Continuation, Control, Limits, Observer, Purpose, SlotJob, Workspace, run_panel};
use crate::session::slot::SlotState;
use crate::session::{Event, Layout, PanelFolder, Record};

/// What surrounds the asking.
pub(crate) struct Asking<'a> {
    pub(crate) services: &'a Services,
    /// Of the whole session, whatever the folder of the turn.
    pub(crate) session: Layout,
    pub(crate) limits: Limits,
    /// The snapshot that programs work in; judges of answers have none.
    pub(crate) workspace: Option<Arc<Workspace>>,
    pub(crate) control: &'a mut Control,
    pub(crate) observer: &'a mut dyn Observer,
}

/// How somebody's turn ended: its state, and what its reply says with the reply's hash where it completed.
pub(crate) struct Reply<B> {
    pub(crate) state: SlotState,
    pub(crate) ballot: Option<(Sha256Hash, B)>,
}

/// A question to one judge, to one member of a panel that votes, or to one reviewer.
pub(crate) trait Question {
    /// What its reply is read as.
    type Ballot;

    /// Who is asked.
    fn asked(&self) -> SlotId;

    /// Writes the prompt.
    fn write(&self, form: BallotForm, out: &mut impl Write) -> Result<()>;

    /// What the reply is for.
    fn purpose(&self) -> Purpose;

    /// Reads the reply.
    fn read(&self, reply: &str) -> Self::Ballot;

    /// What is recorded of the reply of `asked`, whose hash is `response`.
    fn read_event(asked: SlotId, response: Sha256Hash, ballot: &Self::Ballot) -> Event;

    /// What to do where the same cannot be asked again.
    const INSTEAD: &'static str;
}

/// What a judge is asked.
pub(super) struct JudgeQuestion<'a, 'p> {
    pub(super) prompts: &'a JudgePrompts<'p>,
    pub(super) assignment: &'a Assignment,
    pub(super) about: &'a About,
}

/// What a judge is asked about.
pub(super) enum About {
    /// Every answer that it is shown.
    All,
    /// What its earlier reply has no vote on.
    Rest {
        /// The reply.
        reply: Vec<u8>,
        /// The judge's declared context.
        context_tokens: Option<u64>,
    },
}

impl Question for JudgeQuestion<'_, '_> {
    type Ballot = Ballot;

    fn asked(&self) -> SlotId {
        self.assignment.judge
    }

    fn write(&self, form: BallotForm, out: &mut impl Write) -> Result<()> {
        let written: Result<(), PromptError> = match self.about {
            About::All => self.prompts.write(self.assignment, form, out),
            About::Rest { reply, context_tokens } => {
                self.prompts.write_repair(self.assignment, form, reply, *context_tokens, out)
            }
        };
        Ok(written?)
    }

    fn purpose(&self) -> Purpose {
        Purpose::Ballot { schema: schema(self.assignment) }
    }

    fn read(&self, reply: &str) -> Ballot {
        parse(reply, self.assignment)
    }

    fn read_event(judge: SlotId, response: Sha256Hash, ballot: &Ballot) -> Event {
        let (votes, missing) = (ballot.votes.len() as u32, ballot.missing.len() as u32);
        Event::Ballot { judge, response, votes, missing }
    }

    const INSTEAD: &'static str = "`team judge` has the answers judged anew, in a round of its own";
}

/// The conversations that questions are asked in.
pub(crate) trait Talks {
    /// What `slot` of the panel in `panel` is given that is asked what is in `prompt`: its prompt, and the conversation
    /// that it goes on with.
    fn next(&mut self, panel: &Layout, slot: SlotId, prompt: PathBuf) -> Result<(PathBuf, Option<Continuation>)>;

    /// Takes in what came of it, which may be known already.
    fn heard(&mut self, panel: &PanelFolder, slot: SlotId, prompt: &Path) -> Result<()>;
}

/// Each question stands alone.
struct Alone;

impl Talks for Alone {
    fn next(&mut self, _: &Layout, _: SlotId, prompt: PathBuf) -> Result<(PathBuf, Option<Continuation>)> {
        Ok((prompt, None))
    }

    fn heard(&mut self, _: &PanelFolder, _: SlotId, _: &Path) -> Result<()> {
        Ok(())
    }
}

/// Writes a prompt for each question, asks, and reads what came back. Of one that did not complete nothing is read.
///
/// What is on record already (a prompt, a reply, a ballot) is not done again.
pub(crate) async fn ask<Q: Question>(
    folder: &mut PanelFolder,
    questions: &[Q],
    asking: &mut Asking<'_>,
) -> Result<BTreeMap<SlotId, Reply<Q::Ballot>>> {
    ask_in(folder, questions, &mut Alone, asking).await
}

/// The same in conversations.
pub(crate) async fn ask_in<Q: Question>(
    folder: &mut PanelFolder,
    questions: &[Q],
    talks: &mut impl Talks,
    asking: &mut Asking<'_>,
) -> Result<BTreeMap<SlotId, Reply<Q::Ballot>>> {
    let mut jobs = Vec::new();
    for question in questions {
        let judge = question.asked();
        let Some(member) = folder.manifest().member(judge) else { continue };
        let model = member.resolved.clone();
        let path = folder.layout().prompt(judge);
        let prompt = Prompt { question, form: form_of(&model) };
        match prompt_on_record(folder, judge) {
            Some(recorded) => prompt.check(recorded, &path)?,
            None => {
                let sha256 = prompt.write(&path)?;
                fault::reach(Point::PromptWritten);
                record(folder, Event::PromptWritten { judge, sha256 }, &mut *asking.observer)?;
                fault::reach(Point::PromptRecorded);
            }
        }
        if folder.status().models.get(&judge).is_none_or(|entry| entry.state != SlotState::Pending) {
            continue;
        }
        let (prompt, conversation) = talks.next(folder.layout(), judge, path)?;
        jobs.push(SlotJob { id: judge, model, prompt, purpose: question.purpose(), conversation });
    }
    if !jobs.is_empty() {
        let panel =
            Panel { session: &asking.session, manifest: folder.manifest(), workspace: asking.workspace.clone() };
        let shared = asking.services.shared(panel, asking.limits, Checks::default());
        let at_once = asking.services.at_once();
        run_panel(folder, jobs, shared, at_once, &mut *asking.control, &mut *asking.observer).await?;
    }
    for question in questions {
        talks.heard(folder, question.asked(), &folder.layout().prompt(question.asked()))?;
    }

    let mut replies = BTreeMap::new();
    for question in questions {
        let judge = question.asked();
        let Some((state, sha256)) = folder.status().models.get(&judge).map(|entry| (entry.state, entry.sha256)) else {
            continue;
        };
        let ballot = match (state, sha256) {
            (SlotState::Completed, Some(sha256)) => {
                let bytes = crate::fs::read_plain(folder.layout().response(judge))?;
                let ballot = question.read(&String::from_utf8_lossy(&bytes));
                record_ballot(folder, Q::read_event(judge, sha256, &ballot), &mut *asking.observer)?;
                Some((sha256, ballot))
            }
            _ => None,
        };
        replies.insert(judge, Reply { state, ballot });
    }
    folder.settle()?;
    Ok(replies)
}

/// Records what was read in a reply, unless it is on record.
pub(crate) fn record_ballot(folder: &mut PanelFolder, ballot: Event, observer: &mut dyn Observer) -> Result<()> {
    if !folder.records().iter().any(|record| record.event == ballot) {
        record(folder, ballot, observer)?;
        fault::reach(Point::BallotRecorded);
    }
    Ok(())
}

/// Providers that can are held to the JSON schema.
pub(crate) fn form_of(model: &ResolvedModel) -> BallotForm {
    match &model.target {
        Target::Http { provider, .. } if provider.json_schema => BallotForm::Json,
        Target::Local { .. } => BallotForm::Json,
        Target::Http { .. } | Target::Process { .. } | Target::Replay { .. } => BallotForm::Blocks,
    }
}

/// The newest prompt of `judge` on record.
fn prompt_on_record(folder: &PanelFolder, judge: SlotId) -> Option<Sha256Hash> {
    prompts_on_record(folder.records()).remove(&judge)
}

/// The newest prompt of each on record.
fn prompts_on_record(records: &[Record]) -> BTreeMap<SlotId, Sha256Hash> {
    let prompts = records.iter().filter_map(|record| match &record.event {
        Event::PromptWritten { judge, sha256 } => Some((*judge, *sha256)),
        _ => None,
    });
    prompts.collect()
}

/// The prompts that were written in `folder` and are not there as they were.
pub(super) fn changed_prompts(folder: &Layout, records: &[Record]) -> Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    for (judge, recorded) in prompts_on_record(records) {
        let path = folder.prompt(judge);
        if !holds(&path, recorded)? {
            changed.push(path);
        }
    }
    Ok(changed)
}

/// Whether the file at `path` is there and is the one that was `recorded`.
fn holds(path: &Path, recorded: Sha256Hash) -> Result<bool> {
    match crate::fs::read_plain(path) {
        Ok(bytes) => Ok(Sha256Hash::of(&bytes) == recorded),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The prompt of one question.
struct Prompt<'a, Q> {
    question: &'a Q,
    form: BallotForm,
}

impl<Q: Question> Prompt<'_, Q> {
    /// Writes it to `path`; what a process that died left there is replaced.
    fn write(&self, path: &Path) -> Result<Sha256Hash> {
        fs::remove_if_exists(path)?;
        let mut file = Hashing::new(BufWriter::new(fs::create_exclusive(path)?));
        self.question.write(self.form, &mut file)?;
        file.flush()?;
        file.inner.get_ref().sync_data()?;
        Ok(file.hash())
    }

    /// Fails unless it is the one that was asked. A file that is not, which whoever resumes has accepted, is written as it
    /// was.
    fn check(&self, recorded: Sha256Hash, path: &Path) -> Result<()> {
        let mut nowhere = Hashing::new(std::io::sink());
        self.question.write(self.form, &mut nowhere)?;
        if nowhere.hash() != recorded {
            let asked = self.question.asked();
            let what = format!("{asked} would not be asked what it was asked before");
            return Err(Error::new(ErrorKind::Drifted, what).hint(Q::INSTEAD));
        }
        if !holds(path, recorded)? {
            self.write(path)?;
        }
        Ok(())
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
