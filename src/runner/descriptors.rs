//! How many slots the limit of open files allows at once.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that `team` itself needs beside its slots: the record, the lock, sockets, the runtime, files in transit.
const RESERVED: u64 = 48;

/// The descriptors allowed, and how to give a child what it had before.
#[derive(Debug, Clone, Copy)]
pub struct Descriptors {
    /// The soft limit as this process found it; what children get.
    pub original_soft: Option<u64>,
    /// The soft limit now.
    pub soft: Option<u64>,
}

impl Descriptors {
    /// Raises this process's soft limit to its hard one, as far as the system lets it.
    #[must_use]
    pub fn raise() -> Self {
        let before = getrlimit(Resource::Nofile);
        let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
        let soft = match setrlimit(Resource::Nofile, wanted) {
            Ok(()) => before.maximum,
            Err(_) => before.current,
        };
        Self { original_soft: before.current, soft }
    }

    /// How many slots can run at once when each needs `per_slot` descriptors; at least one.
    #[must_use]
    pub fn slots_at_once(&self, per_slot: u64) -> usize {
        match self.soft {
            None => usize::MAX,
            Some(limit) => {
                usize::try_from(limit.saturating_sub(RESERVED) / per_slot.max(1)).unwrap_or(usize::MAX).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_limit_means_fewer_slots_at_once_but_never_none() {
        let descriptors = |soft| Descriptors { original_soft: soft, soft };
        assert_eq!(descriptors(Some(256)).slots_at_once(8), 26);
        assert_eq!(descriptors(Some(20)).slots_at_once(8), 1);
        assert_eq!(descriptors(None).slots_at_once(8), usize::MAX);
    }
}
