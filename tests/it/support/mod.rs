//! The environment of every test that runs the program: folders of its own, nothing inherited, nothing left behind.

#![allow(dead_code, unused_imports, reason = "a kit: each test file takes what it needs")]

mod background;
mod config;
mod deadline;
mod env;
mod lacks;
mod mcp;
pub(crate) mod outcomes;
mod processes;
mod repository;
mod server;
mod session;
#[path = "../../support/talking.rs"]
mod talking;
mod talks;
mod terminal;
mod voting;
mod ways;

pub(crate) use background::Background;
pub(crate) use config::TeamToml;
pub(crate) use deadline::{DEADLINE, wait_until};
pub(crate) use env::TestEnv;
pub(crate) use lacks::after_lacks;
pub(crate) use mcp::{Called, McpClient, WITH_HANDSHAKE, WITHOUT};
pub(crate) use processes::{is_alive, process_state};
pub(crate) use repository::git;
pub(crate) use server::{Answer, ClosedPort, Gate, Request, Server};
pub(crate) use session::Session;
pub(crate) use talking::program;
pub(crate) use talks::{Talks, Told, endpoint, messages, strongest};
pub(crate) use terminal::Terminal;
pub(crate) use voting::{APPROVE, assert_consistent, finish, judges, run_and_judge, sha256, voters};
pub(crate) use ways::{level, ways};
