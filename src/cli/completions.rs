//! `team completions SHELL`.

use clap::CommandFactory;

use super::args::{Cli, CompletionsArgs};
use super::context::Context;
use crate::error::{Error, ExitCode};

/// Prints the completion script.
pub(super) fn completions(context: &Context, args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "team", &mut script);
    context.printer.document(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::DONE)
}
