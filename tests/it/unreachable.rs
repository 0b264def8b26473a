//! A slot's process and a judge's see nothing of the sessions but their own folder, whatever they try, and nothing of other
//! slots.
//!
//! One slot tries each way out while `team`, a slot with secrets and a complete answer are there. The same list runs
//! under each mechanism, as root and as an ordinary user. Without isolation most ways must lead out: so it is known that
//! they are ways.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod escapes;
mod places;
mod world;
