//! What lies in the place of a file of a session and is none.

use super::world::{die, world};
use crate::support::finish;

const RUN: &[&str] = &["run-and-judge", "which is the best?"];

#[test]
fn what_is_no_regular_file_in_the_place_of_an_answer_is_not_read() {
    for link in [true, false] {
        let env = world();
        die(&env, "votes-written", RUN);
        let session = env.session();
        let slot = session.id_of("kiwi");
        let name = format!("response-{slot}.md");
        let path = session.path(&name);
        let elsewhere = env.path("moved.md");
        std::fs::rename(&path, &elsewhere).unwrap();
        match link {
            true => std::os::unix::fs::symlink(&elsewhere, &path).unwrap(),
            false => nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap(),
        }
        for arguments in [&["resume"][..], &["resume", "--accept-drift"], &["show", "latest", &slot]] {
            let (_, err) = finish(&env, arguments, 6);
            assert!(err.contains(&format!("{name}` is no regular file")), "{arguments:?}: {err}");
        }
        let (out, _) = finish(&env, &["verify"], 6);
        assert!(out.contains(&name), "{out}");
    }
}
