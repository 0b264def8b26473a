//! A repository with a planted fault on its branch, reviewers of known quality, and fixers that do what they are told.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Session, TeamToml, TestEnv, finish, git};

/// The fault that is planted: the last item is never summed.
pub(super) const FAULTY: &str = "pub fn sum(items: &[u64]) -> u64 {
    let mut total = 0;
    for index in 0..items.len() - 1 {
        total += items[index];
    }
    total
}
";

/// What it was before.
pub(super) const SOUND: &str = "pub fn sum(items: &[u64]) -> u64 {
    items.iter().sum()
}
";

/// What of the fault shows in its file and in a change.
pub(super) const SIGN: &str = "items.len() - 1";

/// A finding, with what should be done about it.
pub(crate) fn finding(severity: &str, action: &str, title: &str) -> Value {
    json!({
        "severity": severity, "action": action, "file": "src/sum.rs", "line": 3, "title": title,
        "description": format!("{title}: the loop ends one item early."), "evidence": "As the code shows.",
        "suggestion": "Mend it.",
    })
}

/// A reply that ends in a `findings` block with these, as the text of a step.
pub(super) fn reply(findings: &[Value]) -> String {
    let block = json!({ "findings": findings }).to_string().replace('\\', "\\\\");
    format!("I looked at all of it.\\n\\n```findings\\n{block}\\n```")
}

/// The step of a reviewer that finds these as long as the fault is in the file.
pub(crate) fn looks(findings: &[Value]) -> String {
    format!("look src/sum.rs {SIGN} ;; {} ;; {}", reply(findings), reply(&[]))
}

/// The step by which judges go by what the change shows.
pub(crate) const WEIGH: &str = "weigh added summed items.len() - 1";

/// The title of the planted fault.
pub(crate) const PLANTED: &str = "The last item is never summed";

/// What the fault is mended to.
pub(crate) const MENDED: &str = "pub fn sum(items: &[u64]) -> u64 {
    items.iter().copied().sum()
}
";

/// A shell script that mends the fault.
pub(crate) const MENDS: &str = "cat > /dev/null; printf 'pub fn sum(items: &[u64]) -> u64 {\\n    \
    items.iter().copied().sum()\\n}\\n' > src/sum.rs; echo F01: summed all";

/// Three reviewers of which two find the fault with this action, and a fixer that runs a script.
pub(crate) fn panel(action: &str, fixer: &str) -> TeamToml {
    let found = [finding("high", action, PLANTED)];
    let settings = TeamToml::new()
        .agent("ra", &[&looks(&found), WEIGH])
        .agent("rb", &[&looks(&found), WEIGH])
        .agent("rc", &[&looks(&[]), WEIGH])
        .panel(&["ra", "rb", "rc"]);
    with_fixer(settings, fixer)
}

/// The same with a fixer that runs this script.
pub(crate) fn with_fixer(settings: TeamToml, script: &str) -> TeamToml {
    let command = toml::Value::from(vec!["sh", "-c", script]);
    settings.model("fixer", &[("command", command)]).key("fix", keys("fixer = \"fixer\""))
}

/// A table of these keys.
pub(super) fn keys(text: &str) -> toml::Value {
    toml::Value::Table(toml::from_str(text).unwrap())
}

/// A repository whose `main` is sound, and whose branch `topic` plants the fault.
pub(crate) struct Repo {
    pub(crate) env: TestEnv,
}

impl Repo {
    pub(crate) fn with(config: &TeamToml) -> Self {
        Self::of(TestEnv::new(), config)
    }

    pub(super) fn of(env: TestEnv, config: &TeamToml) -> Self {
        let repo = Self { env };
        repo.git(&["init", "-q", "-b", "main"]);
        repo.env.write("src/sum.rs", SOUND);
        repo.env.write("src/other.rs", "pub fn other() {}\n");
        repo.env.write(".gitignore", "/ai-docs/\n/out/\n");
        repo.env.write("team.toml", config.text());
        repo.commit("base");
        repo.git(&["checkout", "-q", "-b", "topic"]);
        repo.env.write("src/sum.rs", FAULTY);
        repo.commit("a loop of our own");
        repo
    }

    /// Commits all that there is, and gives the hash.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in the project, and gives what it prints.
    #[track_caller]
    pub(crate) fn git<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        git(&self.env, arguments)
    }

    /// Runs `team fix`; fails unless it exits with `code`. Gives stdout and stderr.
    #[track_caller]
    pub(crate) fn fix(&self, options: &[&str], code: i32) -> (String, String) {
        finish(&self.env, &[&["fix"], options].concat(), code)
    }

    /// Runs any command.
    #[track_caller]
    pub(super) fn team(&self, arguments: &[&str], code: i32) -> (String, String) {
        finish(&self.env, arguments, code)
    }

    pub(crate) fn session(&self) -> Session {
        self.env.session()
    }

    /// The branches, without those that there were.
    pub(crate) fn new_branches(&self) -> Vec<String> {
        let all = self.git(&["branch", "--format=%(refname:short)"]);
        all.lines().filter(|name| !["main", "topic"].contains(name)).map(str::to_owned).collect()
    }

    /// Everything in the user's work tree but sessions, and the index and branches.
    pub(crate) fn of_the_user(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let root = self.env.project();
        collect(&root, &root, &mut found);
        found.insert("index".to_owned(), std::fs::read(root.join(".git/index")).unwrap());
        found.insert("HEAD".to_owned(), std::fs::read(root.join(".git/HEAD")).unwrap());
        found.insert("config".to_owned(), std::fs::read(root.join(".git/config")).unwrap());
        for branch in ["main", "topic"] {
            found.insert(branch.to_owned(), self.git(&["rev-parse", branch]).into_bytes());
        }
        found
    }

    /// The state of each finding, by the last line of the ledger about it.
    pub(crate) fn states(&self) -> BTreeMap<String, String> {
        let ledger = self.session().text("findings.jsonl");
        let mut states = BTreeMap::new();
        for line in ledger.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(id) = line["finding"].as_str() {
                states.insert(id.to_owned(), line["entry"].as_str().unwrap().to_owned());
            }
        }
        states
    }

    pub(super) fn report(&self) -> String {
        self.session().text("report.md")
    }
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if path.is_dir() {
            if ![".git", "ai-docs"].contains(&name.as_str()) {
                collect(root, &path, found);
            }
        } else {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
}
