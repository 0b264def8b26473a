//! The ways to hold a process, and the words that say how well each holds.

use std::ffi::OsStr;
use std::fmt;

use serde::Serialize;

/// Names a debugging knob that keeps the self-test from trying the better mechanisms.
///
/// `landlock` leaves namespaces out, `none` leaves both out, whatever the machine could do. It exists so that all ways
/// can be tried on one machine; a run that uses it says so like any other run without enforced isolation.
pub const OVERRIDE_VARIABLE: &str = "TEAM_ISOLATION";

/// How a slot's process and everything it starts are held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "mechanism", rename_all = "snake_case")]
pub enum Mechanism {
    /// Mount and PID namespaces of its own: the sessions folder is covered, shared temporary folders are replaced, `/proc`
    /// is fresh, and the kernel kills all of it at once.
    Namespaces {
        /// Inside a user namespace, for callers that may not make the other two without one.
        user: bool,
    },
    /// Rules on files, and what the tree walk does.
    Landlock,
    /// Nothing keeps it from files: the supervisors adopt orphans and walk the tree below them.
    TreeWalk,
}

/// How far a promise is kept (DESIGN 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing but good manners keeps a process from looking.
    Convention,
    /// Contents are out of reach; names, sizes and the process list are not.
    Partial,
    /// Out of reach.
    Enforced,
}

impl Level {
    /// The word used on screen, in events and in the verdict.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Convention => "convention",
            Self::Partial => "partial",
            Self::Enforced => "enforced",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What makes sure that no process of a slot survives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// The kernel ends a PID namespace with its first process.
    Namespace,
    /// Orphans are adopted and every descendant is looked up and killed.
    TreeWalk,
}

impl Containment {
    /// The words used on screen, in events and in the verdict.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "namespace",
            Self::TreeWalk => "tree walk",
        }
    }
}

impl fmt::Display for Containment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Mechanism {
    /// From the strongest to the one that always works, for a caller that is root or not.
    pub(super) fn candidates(root: bool) -> &'static [Self] {
        const ROOT: [Mechanism; 4] = [
            Mechanism::Namespaces { user: false },
            Mechanism::Namespaces { user: true },
            Mechanism::Landlock,
            Mechanism::TreeWalk,
        ];
        // Without privileges only a user namespace can make the other two.
        if root { &ROOT } else { &ROOT[1..] }
    }

    /// How well the session's files are kept from the process.
    #[must_use]
    pub const fn files(self) -> Level {
        match self {
            Self::Namespaces { .. } => Level::Enforced,
            Self::Landlock => Level::Partial,
            Self::TreeWalk => Level::Convention,
        }
    }

    /// How well other processes are kept out of its sight. Landlock keeps their memory, files and environment apart, not
    /// their names and command lines.
    #[must_use]
    pub const fn processes(self) -> Level {
        match self {
            Self::Namespaces { .. } => Level::Enforced,
            Self::Landlock => Level::Partial,
            Self::TreeWalk => Level::Convention,
        }
    }

    /// What makes sure that nothing survives the slot.
    #[must_use]
    pub const fn containment(self) -> Containment {
        match self {
            Self::Namespaces { .. } => Containment::Namespace,
            Self::Landlock | Self::TreeWalk => Containment::TreeWalk,
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespaces { user: false } => "namespaces",
            Self::Namespaces { user: true } => "namespaces of a user",
            Self::Landlock => "Landlock",
            Self::TreeWalk => "tree walk",
        })
    }
}

/// Which mechanisms the self-test may try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preference {
    /// The strongest that works.
    #[default]
    Strongest,
    /// Landlock, else the tree walk.
    Landlock,
    /// Only the tree walk.
    None,
}

/// A value of [`OVERRIDE_VARIABLE`] that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{OVERRIDE_VARIABLE}` is `{0}`; it can be `landlock` or `none`")]
pub struct UnknownPreference(String);

impl Preference {
    /// Reads the value of [`OVERRIDE_VARIABLE`]; unset or empty is the default.
    pub fn parse(value: Option<&OsStr>) -> Result<Self, UnknownPreference> {
        match value {
            None => Ok(Self::Strongest),
            Some(value) if value.is_empty() => Ok(Self::Strongest),
            Some(value) if value == "landlock" => Ok(Self::Landlock),
            Some(value) if value == "none" => Ok(Self::None),
            Some(value) => Err(UnknownPreference(value.to_string_lossy().into_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_user_is_never_offered_namespaces_without_a_user_namespace() {
        assert!(!Mechanism::candidates(false).contains(&Mechanism::Namespaces { user: false }));
        assert_eq!(Mechanism::candidates(true).len(), 4);
        for root in [true, false] {
            assert_eq!(Mechanism::candidates(root).last(), Some(&Mechanism::TreeWalk));
        }
    }

    #[test]
    fn a_misspelt_preference_is_refused_by_name() {
        assert_eq!(Preference::parse(None), Ok(Preference::Strongest));
        assert_eq!(Preference::parse(Some(OsStr::new("none"))), Ok(Preference::None));
        assert_eq!(Preference::parse(Some(OsStr::new("landlock"))), Ok(Preference::Landlock));
        let error = Preference::parse(Some(OsStr::new("nome"))).unwrap_err();
        assert!(error.to_string().contains("`nome`"), "{error}");
    }

    #[test]
    fn the_order_of_trying_is_from_the_stronger_promise_to_the_weaker() {
        for root in [true, false] {
            let promises: Vec<_> = Mechanism::candidates(root)
                .iter()
                .map(|mechanism| (mechanism.files(), mechanism.processes()))
                .collect();
            assert!(promises.is_sorted_by(|a, b| a >= b), "{promises:?}");
            assert_eq!(promises[0].0, Level::Enforced);
        }
    }
}
