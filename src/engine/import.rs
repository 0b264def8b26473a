//! A round of ballots from elsewhere: nobody is asked, and the same code counts.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rand::CryptoRng;

use super::plan::{ImportPlan, written};
use super::record::{record, show_last, show_since};
use super::round::{RoundContext, RoundEnd, too_few, write_votes};
use super::rules::{Bench, RoundRules};
use crate::config::{ModelIdentity, ModelSettings, OutputFormat, ResolvedModel, SelfVote, Target, VoteRules};
use crate::error::{Error, Result};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{
    AnswerNames, Candidate, ImportPattern, ImportedFile, ImportedJudge, Imports, JudgeVotes, LeakCount, Panel, Votes,
    read_json, read_text,
};
use crate::session::slot::{Reason, SlotState};
use crate::session::{
    Drift, Ended, Event, Manifest, NewRound, PanelFolder, Record, Round, Session, SlotEnd, SlotError, Status, TakeUp,
};

/// What to import.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// The files, each with its name and its bytes.
    pub files: Vec<(String, Vec<u8>)>,
    /// The pattern to read them by; without one they are in the schema of `votes.json`.
    pub pattern: Option<ImportPattern>,
}

impl ImportRequest {
    /// The judges of all files, their votes on the complete answers of a session: `manifest` says which models these are
    /// of, `status` which are complete. Votes on a model whose answer is not are left out.
    ///
    /// # Errors
    /// A file cannot be read as it should, names what is no answer of the session, or the files mix votes on single
    /// answers with judgements of two.
    pub fn judges(&self, manifest: &Manifest, status: &Status) -> Result<Vec<ImportedJudge>> {
        let is_complete = |id: SlotId| status.models.get(&id).is_some_and(|entry| entry.state == SlotState::Completed);
        let complete = status.models.iter().filter(|(id, _)| is_complete(**id));
        let names = AnswerNames::new(
            complete.map(|(id, entry)| (*id, entry.sha256)),
            manifest.models.iter().map(|(id, member)| (*id, member.model.clone())),
        );
        let mut judges: Vec<ImportedJudge> = Vec::new();
        for (file, bytes) in &self.files {
            let read = match &self.pattern {
                Some(pattern) => read_text(file, bytes, &stem(file), pattern, &names)?,
                None => read_json(file, bytes, &names)?,
            };
            for judge in read {
                if judges.iter().any(|known| known.name == judge.name && self.files.len() > 1) {
                    let what = format!("`{file}`: judge `{}` is in another file too", judge.name);
                    return Err(Error::usage(what).hint("each judge has one ballot; put what it says into one file"));
                }
                judges.push(judge);
            }
        }
        let paired = judges.iter().filter(|judge| !judge.pairs.is_empty()).count();
        let voting = judges.iter().filter(|judge| !judge.votes.is_empty()).count();
        if paired > 0 && voting > 0 {
            return Err(Error::usage(
                "the files hold votes on single answers and judgements of two against each other",
            )
            .hint("import each kind by itself: they are counted in different ways"));
        }
        if paired + voting == 0 {
            return Err(Error::usage("the files hold no vote on an answer of this session").hint("nothing was counted"));
        }
        // Not before all was checked: what is said until then must not tell which of the models failed.
        judges.iter_mut().for_each(|judge| judge.keep_only(is_complete));
        Ok(judges)
    }
}

/// A file's name without folders and ending: who speaks in it, where it does not say.
fn stem(file: &str) -> String {
    let path = std::path::Path::new(file);
    path.file_stem().map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Opens a round with the judges of the files, keeps the files and what each judge says, and writes `votes.json`.
///
/// A round that was `opened` before goes on where it was left.
pub(super) fn import_round<R: CryptoRng>(
    session: &mut Session,
    request: &ImportRequest,
    opened: Option<Round>,
    context: RoundContext<'_, R>,
) -> Result<RoundEnd> {
    let RoundContext { services, observer, rng, .. } = context;
    let status = session.panel().status();
    let complete = status.count(SlotState::Completed);
    if complete < 2 {
        return Err(too_few(format!("{complete} of the {} slots completed", status.models.len())));
    }
    // Answers that were changed since are not what anybody voted on.
    for (slot, entry) in &status.models {
        entry.read_answer(session.layout(), *slot)?;
    }
    let judges = request.judges(session.panel().manifest(), status)?;
    let files: Vec<ImportedFile> = request
        .files
        .iter()
        .zip(1..)
        .map(|((name, bytes), number)| ImportedFile {
            name: name.clone(),
            kept: ImportedFile::kept_name(number),
            sha256: Sha256Hash::of(bytes),
        })
        .collect();
    let now = Timestamp::now();
    let new = || -> Result<NewRound> {
        Ok(NewRound {
            judges: judges.iter().map(|judge| from_elsewhere(&judge.name)).collect(),
            isolation: services.isolation(),
            prompts: BTreeMap::new(),
            rules: RoundRules { votes: rules(), bench: Bench::Imported }.to_map(),
            plan: Some(written(&ImportPlan::of(request))?),
        })
    };
    let (round, mut folder) = match opened {
        Some(round) => {
            let mut folder = session.enter_round(round)?;
            observer.enter(&round.folder());
            let known = folder.records().len();
            let how = TakeUp { failed: false, drift: &Drift::NONE, isolation: None, ended: Ended::GoesOn };
            folder.take_up(how, now)?;
            show_since(&folder, known, observer);
            (round, folder)
        }
        None => {
            let (round, folder) = session.open_round(new()?, now, rng)?;
            show_last(session.panel(), observer);
            observer.enter(&round.folder());
            show_last(&folder, observer);
            (round, folder)
        }
    };
    let pattern = request.pattern.as_ref().map(|pattern| pattern.as_str().to_owned());
    for (file, (_, bytes)) in files.iter().zip(&request.files) {
        let is_kept =
            |record: &Record| matches!(&record.event, Event::Imported { file: kept, .. } if *kept == file.kept);
        if folder.records().iter().any(is_kept) {
            continue;
        }
        fs::replace(&folder.layout().root().join(&file.kept), bytes)?;
        fault::reach(Point::ImportKept);
        let event = Event::Imported { file: file.kept.clone(), sha256: file.sha256, pattern: pattern.clone() };
        record(&mut folder, event, observer)?;
    }
    let seats: Vec<SlotId> = folder.manifest().shuffle_order.clone();
    let mut by_id: BTreeMap<SlotId, JudgeVotes> = BTreeMap::new();
    for (id, judge) in seats.into_iter().zip(judges) {
        by_id.insert(id, keep(&mut folder, id, judge, observer)?);
    }
    let judges: Vec<JudgeVotes> = by_id.into_values().collect();
    let votes = votes_of(round, session.panel().status(), Imports { files, pattern }, judges);
    let votes_hash = write_votes(&mut folder, &votes)?;
    Ok(RoundEnd { round, folder, votes, votes_hash, second_pass: None, notes: Vec::new() })
}

/// What stands in the manifest for a judge that was asked elsewhere.
pub(super) fn from_elsewhere(name: &str) -> ResolvedModel {
    ResolvedModel {
        name: format!("{name} (imported)"),
        identity: ModelIdentity(format!("imported:{name}")),
        target: Target::Replay { file: "imported".into(), output: OutputFormat::Text, pace: None },
        settings: ModelSettings::default(),
    }
}

/// The rules that imported ballots are counted by: which held elsewhere nobody here knows.
pub(super) fn rules() -> VoteRules {
    VoteRules::from(SelfVote::Include)
}

/// The contents of `votes.json` of a round whose ballots were imported.
pub(super) fn votes_of(round: Round, slots: &Status, imports: Imports, judges: Vec<JudgeVotes>) -> Votes {
    let shown = |id: &SlotId| judges.iter().filter(|judge| judge.order.contains(id)).count() as u32;
    let candidates = slots
        .models
        .iter()
        .map(|(id, entry)| Candidate {
            id: *id,
            state: entry.state,
            sha256: entry.sha256,
            bytes: entry.output_size,
            leaks: LeakCount::default(),
            left_out: false,
            eligible_judges: shown(id),
        })
        .collect::<Vec<_>>();
    let VoteRules { own, leaks, passes, repair } = rules();
    Votes {
        version: FormatVersion::CURRENT,
        round: round.0,
        self_vote: own.self_vote,
        recuse: own.recuse,
        leaks,
        passes,
        repair,
        panel: Panel { slots: candidates.len() as u32, judges: judges.len() as u32 },
        candidates,
        judges,
        imported: Some(imports),
    }
}

/// What is kept of a judge from elsewhere.
pub(super) enum Kept {
    /// It completed: the text that its ballot is read from.
    Reply { reply: Vec<u8>, votes: JudgeVotes },
    /// It did not: why, and a ballot without votes.
    Failed { reason: Reason, votes: JudgeVotes },
}

impl Kept {
    /// What is kept of `judge`, whose id in the round is `id`.
    pub(super) fn of(id: SlotId, judge: ImportedJudge) -> Result<Self> {
        if judge.state == SlotState::Completed {
            let reply = judge.to_reply().map_err(|error| Error::internal(error.to_string()))?;
            let votes = JudgeVotes::imported(id, Sha256Hash::of(&reply), judge);
            return Ok(Self::Reply { reply, votes });
        }
        let reason = match judge.state {
            SlotState::Empty => Reason::EmptyOutput,
            SlotState::Timeout => Reason::Timeout,
            SlotState::Cancelled => Reason::Cancelled,
            _ => Reason::BadOutput,
        };
        let votes = JudgeVotes { order: judge.order, ..JudgeVotes::without_votes(id, reason.state(), None) };
        Ok(Self::Failed { reason, votes })
    }
}

/// Writes what is kept of a judge, and records its end and its ballot.
fn keep(
    folder: &mut PanelFolder,
    id: SlotId,
    judge: ImportedJudge,
    observer: &mut dyn crate::runner::Observer,
) -> Result<JudgeVotes> {
    let (state, attempts) = match folder.status().models.get(&id) {
        Some(entry) => (entry.state, entry.attempts),
        None => (SlotState::Pending, 0),
    };
    match Kept::of(id, judge)? {
        Kept::Failed { reason, votes } => {
            if state != SlotState::Pending {
                return Ok(votes);
            }
            let error = SlotError::new(reason, "the judge did not complete where it was asked");
            let end = SlotEnd::without_answer(0, error);
            record(folder, Event::SlotEnded { slot: id, end: Box::new(end) }, observer)?;
            Ok(votes)
        }
        Kept::Reply { reply, votes } => {
            let sha256 = Sha256Hash::of(&reply);
            if state == SlotState::Pending {
                let attempt = attempts + 1;
                // First, so that the file of a writer that is stopped right here is known to be unfinished.
                record(folder, Event::SlotStarted { slot: id, attempt }, observer)?;
                fault::reach(Point::SlotStarted);
                fs::replace(&folder.layout().response(id), &reply)?;
                fault::reach(Point::ImportReply);
                let end = SlotEnd::with_answer(attempt, reply.len() as u64, sha256);
                record(folder, Event::SlotEnded { slot: id, end: Box::new(end) }, observer)?;
                fault::reach(Point::SlotEndRecorded);
            }
            let ballot = ballot_event(&votes, sha256);
            if !folder.records().iter().any(|record| record.event == ballot) {
                record(folder, ballot, observer)?;
                fault::reach(Point::BallotRecorded);
            }
            Ok(votes)
        }
    }
}

/// What the record says of an imported ballot.
fn ballot_event(votes: &JudgeVotes, response: Sha256Hash) -> Event {
    let count = (votes.votes.len() + votes.pairs.len()) as u32;
    Event::Ballot { judge: votes.id, response, votes: count, missing: votes.missing.len() as u32 }
}
