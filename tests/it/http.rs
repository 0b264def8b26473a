//! Model APIs by the real program, against a server of which the tests say every byte.

mod columns;
mod faults;
mod judges;
mod limits;
mod reviews;
mod table;
mod votes;
mod wires;
