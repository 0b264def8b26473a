//! What is at the place that `-o` names decides how the report is written there.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};

use super::judged;
use crate::support::finish;

const PAGE: &str = "<!doctype html>";

#[test]
fn a_link_is_followed_and_stays_a_link() {
    let (env, _) = judged();
    env.write("real/page.html", "older");
    std::fs::set_permissions(env.path("real/page.html"), PermissionsExt::from_mode(0o600)).unwrap();
    for (link, target) in [("link.html", "real/page.html"), ("dangling.html", "real/new/deep.html")] {
        std::os::unix::fs::symlink(target, env.path(link)).unwrap();
        finish(&env, &["report", "-o", link], 0);
        assert!(env.path(link).symlink_metadata().unwrap().is_symlink(), "{link}");
        assert!(std::fs::read_to_string(env.path(target)).unwrap().starts_with(PAGE), "{link}");
    }
    let mode = env.path("real/page.html").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else may read what nobody else could");
}

#[test]
fn a_named_pipe_is_written_to_and_stays() {
    let (env, _) = judged();
    let pipe = env.path("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let read = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap())
    };
    finish(&env, &["report", "-o", "pipe"], 0);
    assert!(read.join().unwrap().starts_with(PAGE));
    assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo());
}

#[test]
fn what_may_not_be_written_is_refused_and_stays() {
    let (env, _) = judged();
    env.write("mine.html", "mine");
    std::fs::set_permissions(env.path("mine.html"), PermissionsExt::from_mode(0o444)).unwrap();
    let (_, err) = finish(&env, &["report", "-o", "mine.html"], 2);
    assert!(err.contains("mine.html` may not be written"), "{err}");
    assert_eq!(std::fs::read_to_string(env.path("mine.html")).unwrap(), "mine");
    let _socket = std::os::unix::net::UnixListener::bind(env.path("socket")).unwrap();
    let (_, err) = finish(&env, &["report", "-o", "socket"], 2);
    assert!(err.contains("socket` is a socket"), "{err}");
    assert!(env.path("socket").symlink_metadata().unwrap().file_type().is_socket());
}

#[test]
fn nothing_but_the_report_is_added_to_a_session() {
    let (env, session) = judged();
    let before = session.files();
    let folder = env.path("in");
    std::os::unix::fs::symlink(session.path("."), &folder).unwrap();
    let own = session.path("verdict.md");
    std::os::unix::fs::symlink(&own, env.path("link.md")).unwrap();
    let verdict = session.text("verdict.md");
    let inside = ["in/verdict.md", "in/judging/report.html", "in/new/deep.html", "in/other.html", "link.md"];
    for place in inside.into_iter().chain([own.to_str().unwrap()]) {
        let (_, err) = finish(&env, &["report", "-o", place], 2);
        assert!(err.contains("lies in the folder of the session"), "{place}: {err}");
    }
    assert_eq!((session.files(), session.text("verdict.md")), (before, verdict));
    finish(&env, &["report", "-o", "in/report.html"], 0);
    finish(&env, &["verify"], 0);
    // A `manifest.json` alone is somebody else's.
    env.write("site/manifest.json", "{}");
    finish(&env, &["report", "-o", "site/page.html"], 0);
}
