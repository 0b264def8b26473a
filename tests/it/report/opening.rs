//! `team report --open`.

use super::panel;
use crate::support::{TestEnv, finish};

#[test]
fn the_browser_that_is_set_is_given_the_file() {
    let env = TestEnv::with(&panel())
        .program("my-browser", "#!/bin/sh\nprintf '%s' \"$1\" > opened.tmp && mv opened.tmp opened\n");
    let env = env.set("BROWSER", "no-such-browser:my-browser");
    finish(&env, &["run", "Which one is it?"], 0);
    let (out, err) = finish(&env, &["report", "--open"], 0);
    let path = env.session().path("report.html");
    assert_eq!((out.trim_end(), err.as_str()), (path.to_str().unwrap(), ""));
    assert_eq!(std::fs::read_to_string(env.path("opened")).unwrap(), path.to_str().unwrap());
}

#[test]
fn without_a_program_to_open_it_the_report_is_made_and_the_next_step_told() {
    let env = TestEnv::with(&panel());
    finish(&env, &["run", "Which one is it?"], 0);
    let nowhere = env.path("nowhere");
    let env = env.set("PATH", nowhere.to_str().unwrap());
    let (out, err) = finish(&env, &["report", "--open"], 2);
    assert!(std::path::Path::new(out.trim_end()).is_file(), "{out}");
    assert!(err.contains("no program to open the report with") && err.contains("xdg-open"), "{err}");
    assert!(err.contains("report.html` in a browser by hand"), "{err}");
}

#[test]
fn a_browser_that_fails_is_told_with_its_status() {
    let env = TestEnv::with(&panel()).program("my-browser", "#!/bin/sh\nexit 7\n").set("BROWSER", "my-browser");
    finish(&env, &["run", "Which one is it?"], 0);
    let (_, err) = finish(&env, &["report", "--open"], 2);
    assert!(err.contains("my-browser") && err.contains("exit status: 7"), "{err}");
    let (_, err) = finish(&env, &["report", "--open", "-o", "-"], 2);
    assert!(err.contains("cannot be opened"), "{err}");
}
