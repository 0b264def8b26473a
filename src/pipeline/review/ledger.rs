//! The ledger of findings grows by a round.

use super::round::Surroundings;
use super::votes::{FindingStanding, FindingVotes};
use crate::error::Result;
use crate::findings::Identified;
use crate::session::{InnerPanel, Session};

pub(super) fn raise(_: &mut Session, _: InnerPanel, _: &[Identified], _: &mut Surroundings<'_>) -> Result<()> {
    Ok(())
}

pub(super) fn settle_standings(
    _: &mut Session,
    _: InnerPanel,
    _: &[FindingStanding],
    _: &FindingVotes,
    _: &mut Surroundings<'_>,
) -> Result<()> {
    Ok(())
}
