//! Where `.ci/run` put what these tests need.

use std::path::PathBuf;

use crate::support::TestEnv;

/// The folder that outlives a run of the tests: agents and the local model are installed there once.
pub(crate) fn cache() -> PathBuf {
    let given = std::env::var_os("TEAM_CI_CACHE").map(PathBuf::from);
    given.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/team-ci"))).expect("HOME is unset")
}

/// The path on which the real agents are found.
pub(crate) fn path_with_agents() -> String {
    let folders = ["agents/node_modules/.bin", "claudish/node_modules/.bin", "llm/bin"].map(|name| cache().join(name));
    for program in ["claude", "codex", "gemini", "opencode", "claudish", "llm"] {
        let found = folders.iter().any(|folder| folder.join(program).exists());
        assert!(found, "`{program}` is not in `{}`: `.ci/run` installs it", cache().display());
    }
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!("{}:{}", folders.join(":"), std::env::var("PATH").unwrap())
}

/// The same programs where an ordinary user finds them too, as links to the files in the cache, and the path to them.
pub(crate) fn agents_for_everybody() -> (tempfile::TempDir, String) {
    let folder = tempfile::Builder::new().prefix("team-agents-").tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let from = format!("{}/.", cache().join("agents").display());
    let linked = std::process::Command::new("cp").args(["-al", &from]).arg(folder.path()).status().unwrap();
    if !linked.success() {
        // On another file system than the cache.
        let copied = std::process::Command::new("cp").args(["-a", &from]).arg(folder.path()).status().unwrap();
        assert!(copied.success());
    }
    let path = format!("{}/node_modules/.bin:{}", folder.path().display(), std::env::var("PATH").unwrap());
    (folder, path)
}

/// An environment in which a package installer finds its index as the caller's does, and the model that an earlier test
/// installed.
pub(crate) fn env_with_local_model() -> TestEnv {
    let xdg = cache().join("xdg");
    std::fs::create_dir_all(&xdg).unwrap();
    let mut env =
        TestEnv::new().set("XDG_CACHE_HOME", xdg.to_str().unwrap()).set("PATH", &std::env::var("PATH").unwrap());
    let passed_on = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with("pip_")
            || name.ends_with("_proxy")
            || matches!(name.as_str(), "ssl_cert_file" | "ssl_cert_dir" | "requests_ca_bundle")
    };
    for (name, value) in std::env::vars().filter(|(name, _)| passed_on(name)) {
        env = env.set(&name, &value);
    }
    if std::env::var_os("PIP_CONFIG_FILE").is_none()
        && let Some(home) = std::env::var_os("HOME").map(PathBuf::from)
        && let Some(file) =
            [".config/pip/pip.conf", ".pip/pip.conf"].map(|name| home.join(name)).iter().find(|f| f.exists())
    {
        env = env.set("PIP_CONFIG_FILE", file.to_str().unwrap());
    }
    env
}
