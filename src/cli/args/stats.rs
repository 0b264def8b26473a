//! `team stats`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::kind_of_task;
use crate::config::parse_duration;
use crate::report::stats::By;

/// Count over sessions how each model did
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team stats                              the sessions of this project
  team stats --since 30d --by context     what each kind of task says of the last 30 days
  team stats --since 2026-02-01 --until 2026-02-28 --csv > february.csv
  team stats ../*/ai-docs/sessions        over several projects

A session counts once, with its newest verdict. What has none is left out and counted by the reason, and no model of it is \
named. Sessions with imported votes are apart. Nothing is written, and no index is kept.")]
pub struct StatsArgs {
    /// Folders of sessions, or sessions [default: where sessions are kept]
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Only sessions that began then or later: a date, a time, or an age such as 30d
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Moment>,
    /// Only sessions that began until then, of a date that whole day
    #[arg(long, value_name = "WHEN")]
    pub until: Option<Moment>,
    /// Only sessions whose panel was chosen for this kind of task
    #[arg(long, value_name = "NAME", value_parser = kind_of_task)]
    pub context: Option<String>,
    /// Group the sessions
    #[arg(long, value_name = "WHAT", value_enum)]
    pub by: Option<By>,
    /// Print CSV
    #[arg(long)]
    pub csv: bool,
}

/// A point in time as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A day in UTC.
    Day(Date),
    /// A time.
    At(Timestamp),
    /// So long ago.
    Ago(Duration),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(day) = text.parse::<Date>()
            && !text.contains([':', 'T'])
        {
            return Ok(Self::Day(day));
        }
        if let Ok(at) = text.parse() {
            return Ok(Self::At(at));
        }
        parse_duration(text).map(Self::Ago).map_err(|_| {
            "write a date such as `2026-02-01`, a time such as `2026-02-01T08:00:00Z`, or an age such as `30d`"
                .to_owned()
        })
    }
}

impl Moment {
    /// The first moment of it, seen from `now`; `None` where the calendar ends.
    #[must_use]
    pub fn begin(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Day(day) => Some(day.to_zoned_datetime(TimeZone::UTC).ok()?.timestamp()),
            Self::At(at) => Some(at),
            Self::Ago(age) => now.checked_sub(age).ok(),
        }
    }

    /// The first moment after it.
    #[must_use]
    pub fn end(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Day(day) => Self::Day(day.tomorrow().ok()?).begin(now),
            Self::At(_) | Self::Ago(_) => self.begin(now),
        }
    }
}

impl ValueEnum for By {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_taken_in_every_form_that_is_told() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let bounds = |text: &str| {
            let moment: Moment = text.parse().unwrap();
            (moment.begin(now).unwrap().to_string(), moment.end(now).unwrap().to_string())
        };
        let same = |at: &str| (at.to_owned(), at.to_owned());
        assert_eq!(bounds("2026-02-28"), ("2026-02-28T00:00:00Z".to_owned(), "2026-03-01T00:00:00Z".to_owned()));
        assert_eq!(bounds("2026-02-01T08:00:00+01:00"), same("2026-02-01T07:00:00Z"));
        assert_eq!(bounds("30d"), same("2026-01-30T12:00:00Z"));
        for wrong in ["", "yesterday", "2026-13-01", "30", "2026-02"] {
            assert!(wrong.parse::<Moment>().is_err(), "{wrong}");
        }
    }
}
