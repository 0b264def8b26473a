//! Where the result of a gate goes: files and workflow commands, each however the gate ends.

use std::path::{Path, PathBuf};

use rand::RngExt;

use super::args::OutputArgs;
use super::context::Context;
use super::destination::{Destination, unwritable};
use crate::config::GateOutputs;
use crate::error::{Error, Result};
use crate::fs;
use crate::report::ci::{self, GateReport};

/// The variable that names the file for the summary of a step.
const SUMMARY_VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Junit,
    Sarif,
    GitLab,
    Markdown,
}

/// Where the result goes.
#[derive(Debug)]
pub(super) struct Outputs {
    files: Vec<(Format, Destination)>,
    github: bool,
    /// What ends the time in which nothing that is printed is a command.
    resume: Option<String>,
}

impl Outputs {
    /// Nowhere.
    pub(super) const fn none() -> Self {
        Self { files: Vec::new(), github: false, resume: None }
    }

    /// What the command line asks for. A file that cannot be written is an error before anything else is done.
    pub(super) fn of(args: &OutputArgs, context: &Context) -> Result<Self> {
        let mut outputs = Self::none();
        outputs.begin_github(args.github, context);
        let OutputArgs { junit, sarif, gitlab, markdown, github: _ } = args;
        outputs.add_files([junit, sarif, gitlab, markdown], context)?;
        if outputs.has_stdout() && (context.global.json || outputs.github) {
            let other = if outputs.github { "what `--github` has read for commands" } else { "`--json`" };
            return Err(Error::usage(format!("an output to `-` and {other} would share standard output"))
                .hint("nothing was run; give the output a file of its own"));
        }
        Ok(outputs)
    }

    /// Whether one of them takes the place of the verdict on standard output.
    pub(super) fn has_stdout(&self) -> bool {
        self.files.iter().any(|(_, to)| *to == Destination::Stdout)
    }

    /// What the settings ask for as well, where the command line says nothing.
    pub(super) fn add(&mut self, settings: &GateOutputs, context: &Context) -> Result<()> {
        self.begin_github(settings.github == Some(true), context);
        let GateOutputs { junit, sarif, gitlab, markdown, github: _ } = settings;
        self.add_files([junit, sarif, gitlab, markdown], context)
    }

    fn add_files(&mut self, files: [&Option<PathBuf>; 4], context: &Context) -> Result<()> {
        let formats = [Format::Junit, Format::Sarif, Format::GitLab, Format::Markdown];
        for (format, file) in formats.into_iter().zip(files) {
            let Some(file) = file else { continue };
            if self.files.iter().any(|(known, _)| *known == format) {
                continue;
            }
            let to = Destination::of(file, context);
            if self.files.iter().any(|(_, other)| *other == to) {
                let to = match &to {
                    Destination::Stdout => "standard output".to_owned(),
                    Destination::File(path) => format!("`{}`", path.display()),
                };
                return Err(Error::usage(format!("two outputs would be written to {to}"))
                    .hint("nothing was run; give each a file of its own"));
            }
            if let Destination::File(path) = &to {
                check_links(path, &context.cwd)?;
            }
            to.prepare()?;
            self.files.push((format, to));
        }
        Ok(())
    }

    /// From here on texts of models, programs and git are printed: a line of theirs must not be a command.
    fn begin_github(&mut self, wanted: bool, context: &Context) {
        if !wanted || self.github {
            return;
        }
        self.github = true;
        let token = format!("{:032x}", rand::rng().random::<u128>());
        context.printer.command(&format!("::stop-commands::{token}"));
        self.resume = Some(format!("::{token}::"));
    }

    /// Whether what is printed is read for workflow commands.
    pub(super) const fn is_github(&self) -> bool {
        self.github
    }

    /// Writes all of them; the error names every one that could not be written.
    pub(super) fn write(&self, report: &GateReport, context: &Context) -> Result<()> {
        let mut failed = Vec::new();
        for (format, to) in &self.files {
            let text = match format {
                Format::Junit => ci::junit(report).map_err(|error| error.to_string()),
                Format::Sarif => pretty(&ci::sarif(report)),
                Format::GitLab => pretty(&ci::code_quality(report)),
                Format::Markdown => Ok(ci::markdown(report)),
            };
            let written = text.and_then(|text| to.write(&text, context).map_err(|error| error.chain()));
            if let Err(why) = written {
                failed.push(why);
            }
        }
        if let Some(resume) = &self.resume {
            context.printer.command(resume);
            for line in ci::annotations(report) {
                context.printer.command(&line);
            }
            if let Err(why) = summarise(report, context) {
                failed.push(why);
            }
        }
        if failed.is_empty() {
            return Ok(());
        }
        Err(Error::io("cannot write every output", std::io::Error::other(failed.join("; ")))
            .hint("the result itself is above"))
    }
}

/// Adds the summary to the file that GitHub Actions names.
fn summarise(report: &GateReport, context: &Context) -> std::result::Result<(), String> {
    let Some(path) = context.environment.text(SUMMARY_VARIABLE).map(PathBuf::from) else {
        context.printer.warning(format!("there is no summary of the step: `{SUMMARY_VARIABLE}` is not set"));
        return Ok(());
    };
    let there = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    fs::append(&path, ci::step_summary(report, there).as_bytes()).map_err(|error| error.to_string())
}

fn pretty(value: &serde_json::Value) -> std::result::Result<String, String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| error.to_string())
}

/// Refuses a path that a link of the branch leads out of the project.
fn check_links(path: &Path, cwd: &Path) -> Result<()> {
    let refused = |error| unwritable(path, error);
    let leaves = || {
        Error::usage(format!("the output `{}` leads out of the current directory through a link", path.display()))
            .hint("name a file in a folder that is none")
    };
    let inside = path.starts_with(cwd);
    let root = cwd.canonicalize().map_err(refused)?;
    let target = fs::output_target(path).map_err(refused)?;
    if inside && !target.starts_with(&root) {
        return Err(leaves());
    }
    Ok(())
}
