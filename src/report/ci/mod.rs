//! What a gate found, for the programs that CI systems are: one neutral [`GateReport`], and a writer for each format.
//!
//! Texts of models, file names and messages of programs are hostile here: each writer makes them harmless in its own way.
//! Nothing here writes a file; the texts are made in memory, within the limits of who reads them.

mod findings;
mod github;
mod gitlab;
mod junit;
mod markdown;
mod model;
mod plain;
mod sarif;

pub use findings::{FindingReport, FindingsReport, PanelNames};
pub use github::{annotations, step_summary};
pub use gitlab::code_quality;
pub use junit::junit;
pub use markdown::markdown;
pub use model::{
    ChangeWord, Finding, GateOutcome, GateReport, Issue, Member, OmissionReason, Origin, ReportCommand, Ruling,
    SeenFile, SubjectReport,
};
pub use sarif::sarif;

#[cfg(test)]
mod finding_tests;
#[cfg(test)]
mod tests;
