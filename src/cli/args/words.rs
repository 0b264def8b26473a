//! Options whose value is one of a few words.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::config::{Leaks, Recuse, SelfVote, SessionReuse, Untracked};
use crate::report::Format;

/// Makes the command line take the words that the type itself knows.
macro_rules! take_words {
    ($($name:ty),+) => {
        $(impl ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL[..]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(PossibleValue::new(self.as_str()))
            }
        })+
    };
}

take_words!(Format, SelfVote, Recuse, Leaks, SessionReuse, Untracked);
