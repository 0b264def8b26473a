//! `team report`: a session as one HTML file, or as text.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::args::ReportArgs;
use super::context::Context;
use super::destination::{Destination, REPORT_FILE};
use super::opener;
use super::sessions::find;
use super::verify::checked;
use crate::engine::{self, Verification};
use crate::error::{Error, ExitCode, Result};
use crate::fs;
use crate::report::sheet::{Integrity, Sheet};
use crate::report::{page, sheet_text};
use crate::secrets::Redactor;
use crate::session::{Layout, Manifest, View};

/// Makes the report. Nothing but its own file is written.
pub(super) fn report(args: &ReportArgs, context: &Context) -> Result<ExitCode> {
    if context.global.json {
        return Err(Error::usage("`team report` makes HTML or text, no JSON")
            .hint("`team show --json`, `team status --json` and `team verify --json` have what it is made from"));
    }
    if args.open && args.output.as_deref() == Some(Path::new("-")) {
        return Err(
            Error::usage("what goes to standard output cannot be opened").hint("name a file, or leave `-o` out")
        );
    }
    let layout = find(&args.session, context)?;
    let found = engine::verify(&layout, None)?;
    let verified = found.verified;
    let view = View::read(layout.clone())?;
    let sheet = Sheet::collect(&view, integrity(&found), &redactor(&layout, context), Timestamp::now())?;
    if !verified {
        context.printer.alert(format!(
            "the folder of `{}` is not as it was recorded: the report says what differs, and so does `team verify`",
            sheet.session
        ));
    }
    match (args.text, args.output.as_deref()) {
        (true, None) => context.printer.document(&sheet_text(&sheet, context.printer.data_columns()))?,
        (_, Some(path)) if path == Path::new("-") => context.printer.document(&text(args, &sheet, context)?)?,
        (_, given) => {
            let path = write(given, &layout, &text(args, &sheet, context)?, context)?;
            context.printer.line(path.display().to_string())?;
            if args.open {
                opener::open(&path, &context.environment)?;
            }
        }
    }
    Ok(if verified { ExitCode::DONE } else { ExitCode::INTEGRITY })
}

fn text(args: &ReportArgs, sheet: &Sheet, context: &Context) -> Result<String> {
    match args.text {
        true => Ok(sheet_text(sheet, context.printer.data_columns())),
        false => page::html(sheet),
    }
}

/// Writes the report where it is wanted; gives its absolute path.
fn write(given: Option<&Path>, layout: &Layout, text: &str, context: &Context) -> Result<PathBuf> {
    if let Some(path) = given {
        let path = context.cwd.join(path);
        let to = Destination::File(path.clone());
        to.prepare()?;
        to.write(text, context)?;
        return Ok(path);
    }
    let path = layout.root().join(REPORT_FILE);
    fs::replace(&path, text.as_bytes()).map_err(|error| {
        Error::io(format!("cannot write `{}`", path.display()), error)
            .hint("`-o FILE` writes it elsewhere, and `--text` writes nothing")
    })?;
    Ok(path)
}

/// What takes out of a report the keys that its models are asked with, should one of them have repeated its own.
pub(super) fn redactor(layout: &Layout, context: &Context) -> Redactor {
    let panels = std::iter::once(layout.clone()).chain(layout.rounds().into_iter().map(|round| layout.round(round)));
    // Whether they can be read is for the report to tell.
    let manifests: Vec<Manifest> = panels.filter_map(|panel| Manifest::read(&panel.manifest()).ok()).collect();
    let own = manifests.iter().flat_map(|manifest| manifest.models.values()).map(|member| &member.resolved);
    let casts = manifests.iter().filter_map(|manifest| manifest.cast.as_ref());
    let cast = casts.flat_map(|cast| cast.panel.iter().chain(cast.fixer.as_deref()));
    let judges = manifests.iter().flat_map(|manifest| manifest.judges.iter().flatten());
    engine::redactor_for(own.chain(cast).chain(judges), &context.environment)
}

/// What a check found, as a report tells it.
fn integrity(found: &Verification) -> Integrity {
    Integrity {
        verified: found.verified,
        head: found.records.first().and_then(|own| own.head).map(|head| head.to_string()),
        checked: checked(&found.checked),
        mismatches: found.mismatches.iter().map(ToString::to_string).collect(),
        // That the report itself is not checked is no news in it.
        notes: found.notes.iter().filter(|note| !note.starts_with(&format!("`{REPORT_FILE}`"))).cloned().collect(),
        suspects: found.mismatches.iter().map(|mismatch| mismatch.file.clone()).collect(),
    }
}
