//! The marks that stand for a model's name until the verdict: `[02.model]`, `[02.program]`, `[02.key]`.

use std::fmt;

use crate::ids::SlotId;

/// Which of a slot's names a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Naming {
    /// The model, its vendor or its provider.
    Model,
    /// The program that runs it.
    Program,
    /// The variable of its key.
    Key,
}

impl Naming {
    const ALL: [Self; 3] = [Self::Model, Self::Program, Self::Key];

    /// The word in the mark.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Program => "program",
            Self::Key => "key",
        }
    }

    /// The mark for a name that must not be tied to a slot.
    #[must_use]
    pub const fn without_slot(self) -> &'static str {
        match self {
            Self::Model => "[model]",
            Self::Program => "[program]",
            Self::Key => "[key]",
        }
    }
}

/// A mark for one name of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placeholder {
    /// The slot.
    pub slot: SlotId,
    /// Which of its names.
    pub naming: Naming,
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}.{}]", self.slot, self.naming.as_str())
    }
}

impl Placeholder {
    /// The mark at the start of `text`, and its length.
    fn at(text: &str) -> Option<(Self, usize)> {
        let inner = text.strip_prefix('[')?;
        let end = inner.find(']').filter(|end| *end <= 16)?;
        let (slot, word) = inner[..end].split_once('.')?;
        let naming = Naming::ALL.into_iter().find(|naming| naming.as_str() == word)?;
        Some((Self { slot: slot.parse().ok()?, naming }, end + 2))
    }
}

/// Fills in every mark for which `name` knows a name; the others stay.
#[must_use]
pub fn reveal(text: &str, name: impl Fn(Placeholder) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let known = Placeholder::at(rest).and_then(|(mark, length)| Some((name(mark)?, length)));
        match known {
            Some((name, length)) => {
                out.push_str(&name);
                rest = &rest[length..];
            }
            None => {
                out.push('[');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_filled_in_and_everything_else_stays() {
        let text = "[x] [02.model] via [02.program], [[02.key]] [03.model] [2.model] [02.vendor] [";
        let shown = reveal(text, |mark| (mark.slot.number() == 2).then(|| format!("<{}>", mark.naming.as_str())));
        assert_eq!(shown, "[x] <model> via <program>, [<key>] [03.model] [2.model] [02.vendor] [");
    }
}
