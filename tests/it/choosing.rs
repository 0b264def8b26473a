//! Which panel is asked: who chose it, what is left of one that was kept, and whether providers know the names.

mod names;
mod panels;
mod remembering;
