//! Where programs leave transcripts: folders that a slot gets for itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::conversation::{Transcript, TranscriptFiles};
use super::habits::Habits;
use super::inherited::Variables;

/// A program's own folder, and what of it shows prompts and answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traces {
    /// The folder.
    pub(super) folder: Folder,
    /// What of it.
    pub(super) parts: Parts,
}

/// How a program finds its folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folder {
    /// The variable that names it, or a folder around it.
    pub(super) variable: &'static str,
    /// Where it is in the folder that the variable names.
    pub(super) within: &'static str,
    /// Where it is in HOME without the variable.
    pub(super) usual: &'static str,
}

/// The transcripts in the part `name` of a program's folder, found by the id of their conversation.
pub(super) fn transcript(folder: Folder, name: &str, variables: &Variables) -> Option<Transcript> {
    let (folder, in_home) = folder.place(variables)?;
    let in_home = in_home.map(|usual| usual.join(name));
    Some(Transcript { folder: folder.join(name), in_home, files: TranscriptFiles::ById })
}

/// Which parts of a folder.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parts {
    /// These folders in it.
    Only(&'static [&'static str]),
    /// All of it but these.
    AllBut(&'static [&'static str]),
}

impl Folder {
    /// Where it is by these variables, and where in HOME if by HOME.
    pub(super) fn place(self, variables: &Variables) -> Option<(PathBuf, Option<PathBuf>)> {
        let value = |name: &str| variables.get(OsStr::new(name)).map(Path::new).filter(|path| path.is_absolute());
        // Components again: an empty last part would leave a slash at the end.
        let plain = |path: PathBuf| path.components().collect::<PathBuf>();
        match value(self.variable) {
            Some(path) => Some((plain(path.join(self.within)), None)),
            None => Some((plain(value("HOME")?.join(self.usual)), Some(self.usual.into()))),
        }
    }
}

/// The folders into which a program with these variables writes transcripts, and what is kept in them.
pub(super) fn of(habits: &Habits, variables: &Variables) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut leaves, mut keeps) = (Vec::new(), Vec::new());
    for Traces { folder, parts } in habits.traces {
        let Some((folder, _)) = folder.place(variables) else { continue };
        match parts {
            Parts::Only(parts) => leaves.extend(parts.iter().map(|part| folder.join(part))),
            Parts::AllBut(parts) => {
                keeps.extend(parts.iter().map(|part| folder.join(part)));
                leaves.push(folder);
            }
        }
    }
    (leaves, keeps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AgentKind;
    use crate::slots::agents::habits::habits_of;

    fn traces(agent: AgentKind, variables: &[(&str, &str)]) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        of(habits_of(agent, "x"), &variables)
    }

    #[test]
    fn transcripts_are_where_the_programs_variable_says_else_in_home() {
        let (leaves, keeps) = traces(AgentKind::Claude, &[("HOME", "/home/u")]);
        for part in ["projects", "sessions"] {
            assert!(leaves.contains(&Path::new("/home/u/.claude").join(part)), "{part}: {leaves:?}");
        }
        assert!(keeps.is_empty() && !leaves.contains(&"/home/u/.claude".into()), "{leaves:?}");
        let (leaves, _) = traces(AgentKind::Codex, &[("HOME", "/home/u"), ("CODEX_HOME", "/c/")]);
        assert!(
            leaves.contains(&"/c/sessions".into()) && leaves.iter().all(|path| path.starts_with("/c")),
            "{leaves:?}"
        );
    }

    #[test]
    fn sign_ins_among_transcripts_are_kept() {
        let (leaves, keeps) = traces(AgentKind::Opencode, &[("HOME", "/home/u"), ("XDG_DATA_HOME", "/d")]);
        assert_eq!(leaves, [PathBuf::from("/d/opencode")]);
        assert!(keeps.contains(&"/d/opencode/auth.json".into()), "{keeps:?}");
    }

    #[test]
    fn without_a_home_and_for_an_unknown_program_there_are_none() {
        assert_eq!(traces(AgentKind::Claude, &[]), (Vec::new(), Vec::new()));
        assert_eq!(traces(AgentKind::Custom, &[("HOME", "/home/u")]), (Vec::new(), Vec::new()));
    }
}
