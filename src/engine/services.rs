//! What a command needs before its first side effect in a session: the isolation self-test, descriptors, the HTTP
//! client, the local model's server, and what must never be written or shown.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{Provider, ResolvedModel, Target};
use crate::error::{Error, Result};
use crate::isolation::{Mechanism, Probe};
use crate::runner::process::DESCRIPTORS_PER_PROCESS;
use crate::runner::{Checks, Descriptors, Limits, Shared};
use crate::secrets::{Mask, Redactor, Scrub, SlotNames};
use crate::session::Manifest;
use crate::slots::local::LocalServer;
use crate::slots::{agents, http};

/// Descriptors of a slot beside its process: the answer, the log, and one in transit.
const DESCRIPTORS_PER_SLOT: u64 = 3;

/// What the panels of one command share.
#[derive(Debug)]
pub struct Services {
    /// The result of the self-test.
    pub probe: Probe,
    descriptors: Descriptors,
    http: Option<http::Client>,
    local: Option<Arc<LocalServer>>,
    secrets: BTreeSet<String>,
    supervisor: PathBuf,
}

impl Services {
    /// Prepares for `models`. `local` is the local model's running server, where one of them needs it.
    pub fn new(models: &[&ResolvedModel], probe: Probe, local: Option<Arc<LocalServer>>) -> Result<Self> {
        let supervisor = std::env::current_exe().map_err(|source| Error::io("cannot find this program's own path", source))?;
        let needs_http = models.iter().any(|model| matches!(model.target, Target::Http { .. } | Target::Local { .. }));
        let mut secrets = agents::secret_values(models.iter().copied(), &|name| std::env::var_os(name));
        secrets.extend(local.iter().map(|server| server.key().to_owned()));
        Ok(Self {
            probe,
            descriptors: Descriptors::raise(),
            http: needs_http.then(http::Client::new),
            local,
            secrets,
            supervisor,
        })
    }

    /// What keeps slots apart, in the words of the record.
    #[must_use]
    pub fn isolation(&self) -> String {
        self.probe.describe()
    }

    /// The mechanism for processes.
    #[must_use]
    pub const fn mechanism(&self) -> Mechanism {
        self.probe.mechanism
    }

    /// How many slots the limit of open files allows at once.
    #[must_use]
    pub fn at_once(&self) -> usize {
        self.descriptors.slots_at_once(DESCRIPTORS_PER_PROCESS as u64 + DESCRIPTORS_PER_SLOT)
    }

    /// What takes secrets and the names of this panel out of everything written or shown.
    #[must_use]
    pub fn scrub(&self, manifest: &Manifest) -> Arc<Scrub> {
        let names = manifest
            .models
            .iter()
            .map(|(slot, member)| {
                let words = member.resolved.naming_words();
                SlotNames { slot: *slot, model: words.model, program: words.program, key: words.key }
            })
            .collect();
        Arc::new(Scrub::blind(Redactor::new(&self.secrets), Mask::new(names)))
    }

    /// Takes secrets, not names, out of what is shown after the verdict.
    #[must_use]
    pub fn open_scrub(&self) -> Scrub {
        Scrub::open(Redactor::new(&self.secrets))
    }

    /// What the slots of a panel share.
    #[must_use]
    pub fn shared(&self, limits: Limits, checks: Checks, manifest: &Manifest) -> Arc<Shared> {
        let local: Option<(Provider, String)> =
            self.local.as_ref().map(|server| (server.provider(), server.key().to_owned()));
        Arc::new(Shared {
            limits,
            checks,
            mechanism: self.mechanism(),
            descriptor_limit: self.descriptors.original_soft,
            scrub: self.scrub(manifest),
            http: self.http.clone(),
            local,
            supervisor: self.supervisor.clone(),
        })
    }
}
