//! What every command is given.

use std::path::PathBuf;

use super::args::GlobalArgs;
use super::caller::Caller;
use super::printer::Printer;
use crate::config::{Config, Environment, FileSettings};
use crate::error::Error;
use crate::report::Aside;

/// Where a command runs, and where it prints.
#[derive(Debug)]
pub struct Context {
    /// The current directory, absolute.
    pub cwd: PathBuf,
    /// The environment at the start.
    pub environment: Environment,
    /// Options of every command.
    pub global: GlobalArgs,
    /// Where to print.
    pub printer: Printer,
    /// Where warnings of the parts below go.
    pub aside: Aside,
    /// The program that this one was started by as a part of itself.
    pub(super) caller: Option<Caller>,
}

impl Context {
    /// The process's own directory, environment and streams.
    pub(super) fn of_this_process(global: GlobalArgs, aside: Aside, caller: Option<Caller>) -> Result<Self, Error> {
        let cwd = std::env::current_dir().map_err(|error| Error::io("cannot find the current directory", error))?;
        let printer = Printer::new(&global);
        let printer = if caller.is_some() { printer.with_warnings() } else { printer };
        Ok(Self { cwd, environment: Environment::of_this_process(), printer, aside, caller, global })
    }

    /// Loads the configuration with `flags` as its highest layer (begin with [`GlobalArgs::settings`]), and says what
    /// was passed over.
    pub fn load(&self, flags: FileSettings) -> Result<Config, Error> {
        let config = Config::load(&self.cwd, &self.environment, flags)?;
        for warning in config.warnings() {
            self.printer.warning(warning);
        }
        Ok(config)
    }
}
