//! How the conversations of a session went, for its report and for whoever looks at it.

use super::seat::seats;
use crate::error::Result;
use crate::report::conversation_lines;
use crate::session::{Manifest, Participant, Role, Session, spoken};

/// A line for each seat that was spoken with, each with lines of the turns that went astray. Seats are named by their
/// models: this is for after the vote.
///
/// # Errors
/// A conversation is damaged.
pub fn told(session: &Session) -> Result<Vec<(String, Vec<String>)>> {
    let spoken = spoken(session.layout(), session.id(), session.panel().records())?;
    let manifest = session.panel().manifest();
    Ok(conversation_lines(&spoken, |of| name_of(manifest, of)))
}

fn name_of(manifest: &Manifest, of: Participant) -> Option<String> {
    let cast = manifest.cast.as_ref()?;
    match of.role {
        Role::Reviewer => {
            let place = seats(manifest, of.role, cast.panel.len()).iter().position(|seat| *seat == of)?;
            Some(cast.panel.get(place)?.name.clone())
        }
        Role::Fixer => Some(cast.fixer.as_ref()?.name.clone()),
        Role::Judge => None,
    }
}
