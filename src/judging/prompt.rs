//! One prompt per judge, streamed from copies that are made once.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use minijinja::context;

use crate::error::Error;
use crate::ids::SlotId;
use crate::prompts::{PromptName, Prompts, PromptsError};

use super::copy::{ANSWER_LIMIT, contained_reply, push_contained};
use super::fit::available;
use super::{AnswerCopy, Assignment, CopyRules};

/// Bytes per write: several answers go into one, which brings the cost near that of joining them first.
const BUFFER: usize = 1024 * 1024;

/// How a judge is asked to write its ballot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BallotForm {
    /// Fenced `vote` blocks.
    #[default]
    Blocks,
    /// The JSON of [`super::schema()`].
    Json,
}

/// A judge's prompt could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A template is not usable.
    #[error(transparent)]
    Template(#[from] PromptsError),
    /// A template does not hold a place exactly once.
    #[error("prompt `{file}` must hold `{{{{ {place} }}}}` exactly once, not {count} times")]
    Place {
        /// The template's file name.
        file: &'static str,
        /// The name of the place.
        place: &'static str,
        /// How often it is there.
        count: usize,
    },
    /// An assignment shows an answer that was not given.
    #[error("there is no copy of answer {0}")]
    NoCopy(SlotId),
    /// An assignment shows a finding that was not given.
    #[error("there is no finding {0}")]
    NoFinding(String),
    /// The prompt's file or pipe refused it.
    #[error("cannot write the prompt of judge {judge}")]
    Write {
        /// The judge.
        judge: SlotId,
        /// Why.
        source: io::Error,
    },
}

impl From<PromptError> for Error {
    fn from(error: PromptError) -> Self {
        match error {
            PromptError::Template(source) => Self::from(source),
            PromptError::Place { .. } => Self::config(error.to_string()),
            PromptError::NoCopy(_) | PromptError::NoFinding(_) => Self::internal(error.to_string()),
            PromptError::Write { judge, source } => {
                Self::io(format!("cannot write the prompt of judge {judge}"), source)
            }
        }
    }
}

// Here, because `prompts` and `error` are of one layer and do not know each other.
impl From<PromptsError> for Error {
    fn from(error: PromptsError) -> Self {
        Self::config(error.to_string())
            .with_source(error)
            .hint("compare the files in `--prompts` with the built-in texts")
    }
}

/// Everything that the prompts of a round share: templates, the task, and the copies of the answers.
#[derive(Debug)]
pub struct JudgePrompts<'a> {
    prompts: &'a Prompts,
    task: String,
    copies: BTreeMap<SlotId, AnswerCopy>,
}

/// The template around task and answers, filled in for one judge.
struct Frame {
    text: String,
    /// Where the task, the answers and a reply go, in the order of the text.
    places: Vec<(usize, Place, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Task,
    Answers,
    Reply,
}

impl Place {
    const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Answers => "answers",
            Self::Reply => "reply",
        }
    }
}

impl<'a> JudgePrompts<'a> {
    /// Prepares the task and the copies of `answers`, once for all judges.
    pub fn new<'b>(
        prompts: &'a Prompts,
        task: &[u8],
        answers: impl IntoIterator<Item = (SlotId, &'b [u8])>,
        rules: CopyRules<'_>,
    ) -> Self {
        let mut contained = String::new();
        push_contained(&mut contained, &String::from_utf8_lossy(task));
        let copies = answers.into_iter().map(|(id, answer)| (id, AnswerCopy::new(id, answer, rules))).collect();
        Self { prompts, task: contained, copies }
    }

    /// The copies, in the order of ids: what was cut and neutralised is told in the verdict.
    pub fn copies(&self) -> impl Iterator<Item = &AnswerCopy> {
        self.copies.values()
    }

    /// Writes the prompt of `assignment`'s judge. Buffers by itself, so `out` may be a bare file.
    ///
    /// # Errors
    /// A template is not usable, an answer was not given, or `out` refuses the text.
    pub fn write(&self, assignment: &Assignment, form: BallotForm, out: &mut impl Write) -> Result<(), PromptError> {
        self.buffered(assignment, form, None, out)
    }

    /// Writes the prompt that asks `assignment`'s judge once more, for the answers that its `reply` has no vote on and
    /// which alone `assignment` shows. `context_tokens` is the judge's declared context: the reply is cut to what it
    /// leaves room for.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_repair(
        &self,
        assignment: &Assignment,
        form: BallotForm,
        reply: &[u8],
        context_tokens: Option<u64>,
        out: &mut impl Write,
    ) -> Result<(), PromptError> {
        let mut room = ANSWER_LIMIT;
        if let Some(tokens) = context_tokens {
            let mut count = Count(0);
            self.stream(assignment, form, Some(""), &mut count)?;
            room = room.min(usize::try_from(available(tokens).saturating_sub(count.0)).unwrap_or(usize::MAX));
        }
        self.buffered(assignment, form, Some(&contained_reply(assignment.judge, reply, room)), out)
    }

    fn buffered(
        &self,
        assignment: &Assignment,
        form: BallotForm,
        reply: Option<&str>,
        out: &mut impl Write,
    ) -> Result<(), PromptError> {
        let mut buffered = BufWriter::with_capacity(BUFFER, out);
        self.stream(assignment, form, reply, &mut buffered)?;
        buffered.flush().map_err(|source| PromptError::Write { judge: assignment.judge, source })
    }

    fn stream(
        &self,
        assignment: &Assignment,
        form: BallotForm,
        reply: Option<&str>,
        out: &mut impl Write,
    ) -> Result<(), PromptError> {
        let frame = self.frame(assignment, form, reply.is_some())?;
        let shown = self.shown(assignment)?;
        let failed = |source| PromptError::Write { judge: assignment.judge, source };
        let mut from = 0;
        for (start, place, end) in frame.places {
            out.write_all(&frame.text.as_bytes()[from..start]).map_err(failed)?;
            match place {
                Place::Task => write_fenced(assignment, &self.task, out),
                Place::Reply => write_fenced(assignment, reply.unwrap_or_default(), out),
                Place::Answers => write_answers(assignment, &shown, out),
            }
            .map_err(failed)?;
            from = end;
        }
        out.write_all(&frame.text.as_bytes()[from..]).map_err(failed)
    }

    /// The size in bytes of what [`Self::write`] writes.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn size(&self, assignment: &Assignment, form: BallotForm) -> Result<u64, PromptError> {
        let mut count = Count(0);
        self.stream(assignment, form, None, &mut count)?;
        Ok(count.0)
    }

    /// The size in bytes that showing `answer` adds to a prompt.
    pub(super) fn size_of(&self, answer: SlotId, assignment: &Assignment) -> Result<u64, PromptError> {
        let Some(alias) = assignment.alias_of(answer) else { return Ok(0) };
        let copy = self.copies.get(&answer).ok_or(PromptError::NoCopy(answer))?;
        let fences =
            "\n### Response \nBEGIN \nEND \n".len() + alias.as_str().len() + 2 * assignment.nonce.as_str().len();
        Ok((fences + copy.text.len()) as u64)
    }

    fn shown(&self, assignment: &Assignment) -> Result<Vec<&AnswerCopy>, PromptError> {
        assignment.shown.iter().map(|(id, _)| self.copies.get(id).ok_or(PromptError::NoCopy(*id))).collect()
    }

    fn frame(&self, assignment: &Assignment, form: BallotForm, again: bool) -> Result<Frame, PromptError> {
        let count = assignment.shown.len();
        let nonce = assignment.nonce.as_str();
        let aliases: Vec<String> = assignment.shown.iter().map(|(_, alias)| alias.to_string()).collect();
        let ballot = match form {
            BallotForm::Blocks => PromptName::BallotFormat,
            BallotForm::Json => PromptName::BallotJson,
        };
        let ballot_format = self.prompts.render(ballot, context! { count => count, aliases => aliases.clone() })?;
        // Task, answers and replies never pass through the template engine: marks that nobody can guess hold their places.
        let mark = |place: Place| format!("\u{1}{nonce} {}\u{1}", place.name());
        let (name, wanted) = if again {
            (PromptName::Repair, &[Place::Task, Place::Answers, Place::Reply][..])
        } else {
            (PromptName::Judge, &[Place::Task, Place::Answers][..])
        };
        let mut text = self.prompts.render(
            name,
            context! {
                count => count, nonce => nonce, aliases => aliases, ballot_format => ballot_format.trim_end(),
                task => mark(Place::Task), answers => mark(Place::Answers), reply => mark(Place::Reply),
            },
        )?;
        // The template engine drops the last line feed.
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let mut places = Vec::new();
        for place in wanted {
            let mark = mark(*place);
            let found: Vec<usize> = text.match_indices(&mark).map(|(start, _)| start).collect();
            match found[..] {
                [start] => places.push((start, *place, start + mark.len())),
                _ => {
                    let (file, place) = (name.file_name(), place.name());
                    return Err(PromptError::Place { file, place, count: found.len() });
                }
            }
        }
        places.sort_by_key(|(start, ..)| *start);
        Ok(Frame { text, places })
    }
}

fn write_fenced(assignment: &Assignment, text: &str, out: &mut impl Write) -> io::Result<()> {
    let nonce = assignment.nonce.as_str();
    writeln!(out, "BEGIN {nonce}")?;
    out.write_all(text.as_bytes())?;
    write!(out, "END {nonce}")
}

fn write_answers(assignment: &Assignment, copies: &[&AnswerCopy], out: &mut impl Write) -> io::Result<()> {
    let nonce = assignment.nonce.as_str();
    for (index, ((_, alias), copy)) in assignment.shown.iter().zip(copies).enumerate() {
        let gap = if index == 0 { "" } else { "\n\n" };
        write!(out, "{gap}### Response {alias}\nBEGIN {nonce}\n")?;
        out.write_all(copy.text.as_bytes())?;
        write!(out, "END {nonce}")?;
    }
    Ok(())
}

struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
