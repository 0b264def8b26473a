//! Ballots from elsewhere, read again from the copies of their files.

use std::collections::BTreeMap;

use super::audit::Audit;
use super::panel::Panel;
use super::report::Mismatch;
use crate::engine::import::{ImportRequest, Kept, from_elsewhere, votes_of};
use crate::engine::plan::ImportPlan;
use crate::engine::rules::{Bench, RoundRules};
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{ImportPattern, ImportedFile, Imports, JudgeVotes, Votes};
use crate::session::{Event, Layout, Manifest, Round, Status};

/// A file of ballots that the record of a round knows.
pub(super) struct Imported {
    /// Its copy in the round's folder.
    file: String,
    sha256: Sha256Hash,
    pattern: Option<String>,
    /// What is in it, when that is as it was recorded.
    bytes: Option<Vec<u8>>,
}

/// Checks the copies of the files that were imported into a round; none in one whose judges were asked.
pub(super) fn check(audit: &mut Audit, panel: &Panel) -> Vec<Imported> {
    let by = format!("`{}`", panel.record.file);
    let mut found = Vec::new();
    for (index, record) in panel.record.records.iter().enumerate() {
        let Event::Imported { file, sha256, pattern } = &record.event else { continue };
        // A record that was made up may name anything.
        if file.contains('/') || !file.starts_with("import-") {
            let what = "names a file that no program keeps ballots in";
            audit.mismatch(Mismatch::new(&panel.record.file, what).line(index + 1).between("import-NN.txt", file));
            continue;
        }
        let bytes = audit.read_expected(&panel.file(file), *sha256, &by);
        found.push(Imported { file: file.clone(), sha256: *sha256, pattern: pattern.clone(), bytes });
    }
    let imported = matches!(panel.record.created(), Some(Event::Created { rules, .. })
        if RoundRules::of_map(rules).is_some_and(|rules| rules.bench == Bench::Imported));
    if imported {
        panel.unrecorded(audit, &ImportedFile::kept_name(found.len() + 1));
    }
    found
}

/// What the copies of the files are read with.
pub(super) struct Rereading<'a> {
    pub(super) panel: &'a Panel,
    pub(super) round: Round,
    /// The models of the session.
    pub(super) models: &'a Manifest,
    /// The judges of the round.
    pub(super) bench: &'a Manifest,
    /// The session's slots when the round was opened.
    pub(super) slots: &'a Status,
}

impl Rereading<'_> {
    /// What `votes.json` must hold by what the files say; `None` when a file is not as it was recorded or says something
    /// else than what was kept of its judges, which is told.
    pub(super) fn votes(&self, audit: &mut Audit, imported: &[Imported], votes: &Votes) -> Option<Votes> {
        let panel = self.panel;
        let file = panel.file("votes.json");
        let Some(told) = &votes.imported else {
            audit.mismatch(Mismatch::new(file, "does not say that its ballots were imported, as the record does"));
            return None;
        };
        let plan = ImportPlan::read(&panel.record.records).ok().flatten();
        let pattern = imported.first()?.pattern.clone();
        let mut files = Vec::new();
        let mut read = Vec::new();
        for (index, import) in imported.iter().enumerate() {
            // Of an earlier program, what the user called the files is written nowhere else.
            let name = match &plan {
                Some(plan) => plan.name(index).unwrap_or_default().to_owned(),
                None => told.files.get(index).map_or_else(String::new, |file| file.name.clone()),
            };
            read.push((name.clone(), import.bytes.clone()?));
            files.push(ImportedFile { name, kept: import.file.clone(), sha256: import.sha256 });
        }
        let judges = match request(read, pattern.as_deref())
            .and_then(|request| request.judges(self.models, self.slots).map_err(|error| error.to_string()))
        {
            Ok(judges) => judges,
            Err(error) => {
                let what = format!("cannot be what the ballots were read from: {error}");
                audit.mismatch(Mismatch::new(panel.file(&imported.first()?.file), what));
                return None;
            }
        };
        if judges.len() != self.bench.shuffle_order.len() {
            let told = Mismatch::new(panel.file("manifest.json"), "does not hold the judges of the imported files");
            audit.mismatch(told.between(judges.len(), self.bench.shuffle_order.len()));
            return None;
        }
        let replies = panel.answers(audit);
        let mut by_id: BTreeMap<SlotId, JudgeVotes> = BTreeMap::new();
        for (id, judge) in self.bench.shuffle_order.iter().zip(judges) {
            let seat = from_elsewhere(&judge.name);
            if !self.bench.member(*id).is_some_and(|member| member.model == seat.name && member.resolved == seat) {
                let what = format!("gives judge {id} another name than the imported file does");
                audit.mismatch(Mismatch::new(panel.file("manifest.json"), what));
            }
            let ballot = match Kept::of(*id, judge) {
                Ok(Kept::Reply { votes, .. } | Kept::Failed { votes, .. }) => votes,
                Err(_) => return None,
            };
            if replies.get(id) != ballot.response_sha256.as_ref() {
                let told = Mismatch::new(
                    panel.file(&Layout::response_name(*id)),
                    "is not what the imported file says of this judge",
                );
                let hash = |hash: Option<&Sha256Hash>| hash.map_or_else(|| "none".to_owned(), ToString::to_string);
                audit.mismatch(told.between(hash(ballot.response_sha256.as_ref()), hash(replies.get(id))));
            }
            by_id.insert(*id, ballot);
        }
        Some(votes_of(self.round, self.slots, Imports { files, pattern }, by_id.into_values().collect()))
    }
}

fn request(files: Vec<(String, Vec<u8>)>, pattern: Option<&str>) -> Result<ImportRequest, String> {
    let pattern = pattern.map(|pattern| ImportPattern::new(pattern).map_err(|error| error.to_string())).transpose()?;
    Ok(ImportRequest { files, pattern })
}
