//! What of a session can be read as a resource: its verdict, its report, and of a review or a fix the consolidated file
//! and the findings.

use std::process::{Command, Stdio};

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use super::child::own_program;
use super::place::Place;
use super::work_card::recorded;
use crate::error::{Error, ErrorKind, Result};
use crate::report::{findings_of, verdict_text, without_controls};
use crate::session::{Event, History, Layout, View};

/// How many sessions are listed, the newest.
const LISTED: usize = 20;

const SCHEME: &str = "team://sessions/";

const MARKDOWN: &str = "text/markdown";

const TEXT: &str = "text/plain";

const JSON: &str = "application/json";

/// What can be read of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Verdict,
    Report,
    Consolidated,
    Findings,
}

impl Part {
    const ALL: [Self; 4] = [Self::Verdict, Self::Report, Self::Consolidated, Self::Findings];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Report => "report",
            Self::Consolidated => "consolidated",
            Self::Findings => "findings",
        }
    }

    const fn is(self) -> &'static str {
        match self {
            Self::Verdict => "The verdict of a session, when there is one",
            Self::Report => "All of a session in one text; before the verdict it names no model",
            Self::Consolidated => "What the newest review came to, its findings put together, when there is one",
            Self::Findings => "The findings of a review or a fix as they stand, each with how it was voted on",
        }
    }

    const fn mime(self) -> &'static str {
        match self {
            Self::Verdict | Self::Consolidated => MARKDOWN,
            Self::Report => TEXT,
            Self::Findings => JSON,
        }
    }

    fn uri(self, session: &str) -> String {
        format!("{SCHEME}{session}/{}", self.as_str())
    }
}

/// The forms of addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    Part::ALL
        .into_iter()
        .map(|part| {
            ResourceTemplate::new(part.uri("{session}"), part.as_str())
                .with_description(format!("{}. `session` is an id, the beginning of one, or `latest`", part.is()))
                .with_mime_type(part.mime())
        })
        .collect()
}

/// What can be read of the newest sessions.
pub(super) fn list(place: &Place) -> Result<Vec<Resource>> {
    let mut found = Vec::new();
    for (layout, meta) in place.catalogue()?.list()?.into_iter().rev().take(LISTED) {
        for part in Part::ALL {
            let is_there = match part {
                Part::Verdict => layout.verdict_md().is_file(),
                Part::Report => !meta.status.is_active(),
                Part::Consolidated => consolidated(&layout).is_some(),
                Part::Findings => layout.ledger().is_file(),
            };
            if is_there {
                let target = without_controls(&meta.target);
                found.push(
                    Resource::new(part.uri(&layout.name()), format!("{} of {}", part.as_str(), layout.name()))
                        .with_description(target)
                        .with_mime_type(part.mime()),
                );
            }
        }
    }
    Ok(found)
}

/// The resource at `uri`.
pub(super) fn read(place: &Place, uri: &str) -> Result<ReadResourceResult> {
    let (session, part) = parse(uri)?;
    let layout = place.session(session)?;
    let missing = |what: &str| {
        Err(Error::new(ErrorKind::NotFound, format!("`{}` has no {what} yet", layout.name()))
            .hint("`{\"mode\": \"status\"}` says how it stands"))
    };
    let text = match part {
        Part::Verdict => match verdict_text(&View::read(layout.clone())?)? {
            Some(text) => text,
            None => return missing("verdict"),
        },
        Part::Report => report(place, &layout)?,
        Part::Consolidated => match consolidated(&layout).map(|folder| recorded(&folder, Layout::CONSOLIDATED)) {
            Some(text) => text?.unwrap_or_default(),
            None => return missing("consolidated file"),
        },
        Part::Findings => match findings_of(&View::read(layout.clone())?)? {
            Some(findings) => serde_json::to_string(&findings)
                .map_err(|error| Error::internal("cannot write the findings").with_source(error))?,
            None => return missing("findings"),
        },
    };
    let contents = ResourceContents::text(without_controls(&text), uri).with_mime_type(part.mime());
    Ok(ReadResourceResult::new(vec![contents]))
}

fn parse(uri: &str) -> Result<(&str, Part)> {
    let unknown = || {
        Error::usage(format!("`{uri}` is no resource of this server")).hint(format!(
            "resources are `{SCHEME}ID/PART`, where PART is `verdict`, `report`, `consolidated` or `findings`"
        ))
    };
    let (session, part) = uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
    let part = Part::ALL.into_iter().find(|known| known.as_str() == part).ok_or_else(unknown)?;
    // `.` and the like would be paths.
    let is_id = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_id { Ok((session, part)) } else { Err(unknown()) }
}

/// The folder of the newest review in a session that has a consolidated file.
fn consolidated(layout: &Layout) -> Option<Layout> {
    let records = History::read(&layout.events()).ok()?.records;
    records.iter().rev().find_map(|record| match record.event {
        Event::PanelOpened { panel } => {
            let folder = layout.inner(panel);
            folder.root().join(Layout::CONSOLIDATED).is_file().then_some(folder)
        }
        _ => None,
    })
}

/// The report as text: what `team report --text` prints, which also says what is not as it was recorded.
fn report(place: &Place, layout: &Layout) -> Result<String> {
    if let Some(own) = recorded(layout, Layout::REPORT)? {
        return Ok(own);
    }
    let refused = |error| Error::io("cannot start `team report`", error);
    let program = own_program().map_err(refused)?;
    let output = Command::new(program)
        .args(["report", "--quiet", "--text", "--output", "-"])
        .arg(layout.root())
        .current_dir(&place.cwd)
        .stdin(Stdio::null())
        .output()
        .map_err(refused)?;
    if output.stdout.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::internal(format!("`team report` printed nothing: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_a_session_and_a_part_of_it() {
        assert_eq!(parse("team://sessions/team-x-20260101/report").unwrap(), ("team-x-20260101", Part::Report));
        for wrong in [
            "file:///etc/passwd",
            "team://sessions/x",
            "team://sessions//verdict",
            "team://sessions/../verdict",
            "team://sessions/x/manifest",
            "team://sessions/x/y/verdict",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
