//! What a process may see.
