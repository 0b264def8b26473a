//! Where a session is kept when it is not in the usual folder: in one of the caller's, or in a temporary one; on purpose or
//! because there is no other way.

mod elsewhere;
