//! From the command line to its command, and from its result to an exit code.

use clap::Parser;

use super::args::{Cli, Command};
use super::context::Context;
use super::{completions, config, doctor, init, models};
use crate::error::{Error, ExitCode};

/// Runs the program; the result is its exit code.
#[must_use]
pub fn main() -> std::process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output with 0, mistakes to standard error with 2.
            error.print().ok();
            return std::process::ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let context = match Context::of_this_process(cli.global) {
        Ok(context) => context,
        Err(error) => {
            super::Printer::new(&super::args::GlobalArgs::default()).error(&error);
            return error.kind().exit_code().into();
        }
    };
    match dispatch(cli.command, &context) {
        Ok(code) => code.into(),
        Err(error) => {
            context.printer.error(&error);
            error.kind().exit_code().into()
        }
    }
}

fn dispatch(command: Command, context: &Context) -> Result<ExitCode, Error> {
    match command {
        Command::Config => config::config(context),
        Command::Completions(args) => completions::completions(context, &args),
        Command::Models => runtime()?.block_on(models::models(context, None)),
        Command::Init(args) => runtime()?.block_on(init::init(context, &args, None)),
        Command::Doctor(args) => {
            let hooks = doctor::Hooks { local: None, isolation: None, deep: None };
            runtime()?.block_on(doctor::doctor(context, &args, &hooks))
        }
        Command::Run(_)
        | Command::Judge(_)
        | Command::RunAndJudge(_)
        | Command::Status(_)
        | Command::List(_)
        | Command::Show(_)
        | Command::Cancel(_)
        | Command::Demo(_) => Err(Error::internal("this command is not part of this build")),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::io("cannot start the runtime", error))
}
