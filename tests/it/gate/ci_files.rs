//! The CI files that people copy.

use std::path::Path;

use crate::support::TestEnv;

fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn the_ci_files_call_the_gate_with_options_that_it_has_and_fetch_the_history() {
    let help = TestEnv::new().team(&["gate", "--help"]).output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    for (path, history) in
        [("fixtures/ci/github-actions.yml", "fetch-depth: 0"), ("fixtures/ci/gitlab-ci.yml", "GIT_DEPTH: \"0\"")]
    {
        let file = text(path);
        assert!(file.contains(history), "{path}");
        let call = file.lines().find_map(|line| Some(line.split_once("team gate --")?.1)).unwrap();
        let options: Vec<String> =
            format!("--{call}").split(' ').filter(|w| w.starts_with('-')).map(str::to_owned).collect();
        assert!(options.len() > 2, "{options:?}");
        for option in options {
            assert!(help.contains(&option), "`{option}` of {path}");
        }
        assert!(!file.contains('\t'));
    }
}

#[test]
fn the_readme_shows_the_same_ci_files() {
    let readme = text("README.md");
    for path in ["fixtures/ci/github-actions.yml", "fixtures/ci/gitlab-ci.yml"] {
        assert!(readme.contains(&format!("```yaml\n{}```", text(path))), "{path}");
    }
}
