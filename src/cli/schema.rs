//! `team schema [FORMAT]`.

use serde_json::{Map, Value};

use super::args::SchemaArgs;
use super::context::Context;
use crate::error::{ExitCode, Result};
use crate::report::Format;

/// Prints the schema of one format; without a name the list of names, or with `--json` every schema by its name.
pub(super) fn schema(args: &SchemaArgs, context: &Context) -> Result<ExitCode> {
    match args.format {
        Some(format) => context.printer.json(&format.schema())?,
        None if context.global.json => {
            let all: Map<String, Value> =
                Format::ALL.iter().map(|format| (format.as_str().to_owned(), format.schema())).collect();
            context.printer.json(&all)?;
        }
        None => {
            for format in Format::ALL {
                context.printer.line(format!("{:<13}  {}", format.as_str(), format.describe()))?;
            }
        }
    }
    Ok(ExitCode::DONE)
}
