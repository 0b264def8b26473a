//! A `team.toml` of scripted agents.

use toml::{Table, Value};

/// Builds a `team.toml`.
#[derive(Debug, Clone, Default)]
pub(crate) struct TeamToml {
    top: Table,
    models: Table,
    providers: Table,
}

impl TeamToml {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A model whose command is the fake agent with these steps.
    pub(crate) fn agent(self, alias: &str, steps: &[&str]) -> Self {
        self.agent_with(alias, steps, &[])
    }

    /// The same with further keys of the model, such as `output`.
    pub(crate) fn agent_with(self, alias: &str, steps: &[&str], keys: &[(&str, Value)]) -> Self {
        let program = env!("CARGO_BIN_EXE_fake-agent");
        let command = std::iter::once(program).chain(steps.iter().copied()).map(Value::from).collect::<Vec<_>>();
        let mut keys = keys.to_vec();
        keys.push(("command", Value::Array(command)));
        self.model(alias, &keys)
    }

    /// A model of any kind.
    pub(crate) fn model(mut self, alias: &str, keys: &[(&str, Value)]) -> Self {
        self.models.insert(alias.to_owned(), Value::Table(table(keys)));
        self
    }

    /// An endpoint.
    pub(crate) fn provider(mut self, name: &str, keys: &[(&str, Value)]) -> Self {
        self.providers.insert(name.to_owned(), Value::Table(table(keys)));
        self
    }

    /// The default panel.
    pub(crate) fn panel(self, models: &[&str]) -> Self {
        self.key("panel", Value::Array(models.iter().copied().map(Value::from).collect()))
    }

    /// Any key at the top.
    pub(crate) fn key(mut self, name: &str, value: Value) -> Self {
        self.top.insert(name.to_owned(), value);
        self
    }

    /// The file's text.
    pub(crate) fn text(&self) -> String {
        let mut all = self.top.clone();
        for (name, tables) in [("models", &self.models), ("providers", &self.providers)] {
            if !tables.is_empty() {
                all.insert(name.to_owned(), Value::Table(tables.clone()));
            }
        }
        toml::to_string(&all).unwrap()
    }
}

fn table(keys: &[(&str, Value)]) -> Table {
    keys.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}
