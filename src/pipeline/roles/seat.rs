//! Which seat a member of a role has.

use crate::ids::{Sha256Hash, SlotId};
use crate::session::{Manifest, Participant, Role};

/// The seats of `count` members of `role` in the session of `manifest`, in the user's order. Each keeps its own as long as the session
/// goes on. Their numbers say nothing about that order to whoever does not have the manifest, and are others than the ids
/// that the same members have in a panel, which are drawn for each panel anew.
#[must_use]
pub fn seats(manifest: &Manifest, role: Role, count: usize) -> Vec<Participant> {
    drawn(&manifest.nonce, role, count)
}

fn drawn(nonce: &str, role: Role, count: usize) -> Vec<Participant> {
    // By hashes and no generator: a session is gone on with by later versions too.
    let lot = |place: &usize| *Sha256Hash::of(format!("seat of {role} {place} {nonce}").as_bytes()).bytes();
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by_key(lot);
    let mut seats: Vec<(usize, SlotId)> = places.into_iter().zip(SlotId::panel(count)).collect();
    seats.sort_unstable();
    seats.into_iter().map(|(_, seat)| Participant { role, seat }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn numbers(nonce: &str, count: usize) -> Vec<String> {
        drawn(nonce, Role::Reviewer, count).iter().map(|of| of.seat.to_string()).collect()
    }

    #[test]
    fn each_member_has_a_seat_of_its_own_and_always_the_same_one() {
        assert_eq!(numbers("7d1f", 3), ["02", "03", "01"], "later versions go on with sessions of this one");
        assert_eq!(numbers("7d1f", 12).into_iter().collect::<BTreeSet<_>>().len(), 12);
        assert_eq!(numbers("7d1f", 0), Vec::<String>::new());
    }

    #[test]
    fn seats_follow_no_order_but_that_of_their_sessions_nonce() {
        let orders: BTreeSet<_> = (0..100).map(|nonce: u32| numbers(&nonce.to_string(), 3)).collect();
        assert_eq!(orders.len(), 6);
    }
}
