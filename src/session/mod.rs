//! stub
pub mod slot;
