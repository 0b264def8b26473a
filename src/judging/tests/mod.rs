//! Assignment, prompt and ballot taken together.

mod assigning;
mod ballots;
mod hostile;
mod prompting;
mod tasks;

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::{Answer, Assignment, Judge, Vendors, assign};
use crate::config::{ModelIdentity, SelfVote};
use crate::ids::SlotId;

pub(super) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

pub(super) fn id(number: usize) -> SlotId {
    SlotId::panel(99).nth(number - 1).unwrap()
}

pub(super) fn model(name: &str) -> ModelIdentity {
    ModelIdentity(name.to_owned())
}

pub(super) fn vendors(name: &str) -> Vendors {
    crate::secrets::families_in(name).map(|(_, vendor)| vendor).collect()
}

/// One answer per name, with ids from 01.
pub(super) fn answers(names: &[&str]) -> Vec<Answer> {
    names
        .iter()
        .enumerate()
        .map(|(index, name)| Answer { id: id(index + 1), identity: model(name), vendors: vendors(name) })
        .collect()
}

/// The panel's own models as judges, each on its seat.
pub(super) fn seated(answers: &[Answer]) -> Vec<Judge> {
    answers
        .iter()
        .map(|answer| Judge {
            id: answer.id,
            identity: answer.identity.clone(),
            vendors: answer.vendors.clone(),
            seat: Some(answer.id),
            context_tokens: None,
        })
        .collect()
}

/// A panel of `count` different models that judge each other.
pub(super) fn panel(count: usize) -> (Vec<Answer>, Vec<Judge>) {
    let names: Vec<String> = (0..count).map(|n| format!("m{n}")).collect();
    let answers = answers(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let judges = seated(&answers);
    (answers, judges)
}

/// What one judge sees of `count` answers of others.
pub(super) fn assignment(count: usize, seed: u64) -> Assignment {
    let (answers, _) = panel(count.max(2));
    let judge =
        Judge { id: id(1), identity: model("judge"), vendors: vendors("judge"), seat: None, context_tokens: None };
    let mut assignment = assign(&answers, &[judge], SelfVote::Model, &mut rng(seed)).unwrap().remove(0);
    assignment.shown.truncate(count);
    assignment
}
