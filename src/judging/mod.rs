//! Who judges what, in which order and under which alias; judge prompts; ballots.
