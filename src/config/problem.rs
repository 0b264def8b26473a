//! What is wrong with the configuration: all of it at once, each with its place.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, or the name of the environment variable or option.
    pub place: PathBuf,
    /// The line in the file, from 1.
    pub line: Option<usize>,
    /// What is wrong, in lower case.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem without a line or a hint.
    pub fn new(place: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self { place: place.as_ref().to_owned(), line: None, message: message.into(), hint: None }
    }

    /// Adds the line.
    #[must_use]
    pub fn at(mut self, line: Option<usize>) -> Self {
        self.line = line;
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Everything that is wrong with the configuration; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// In the order of the layers and of the lines.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = self.problems.as_slice() {
            return write!(f, "{problem}");
        }
        write!(f, "{} problems in the configuration", self.problems.len())?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
            if let Some(hint) = &problem.hint {
                write!(f, " ({hint})")?;
            }
        }
        Ok(())
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let hint = match error.problems.as_slice() {
            [problem] => problem.hint.clone(),
            _ => None,
        };
        let converted = Self::config(error.to_string());
        match hint {
            Some(hint) => converted.hint(hint),
            None => converted,
        }
    }
}
