//! The only calls of git.
