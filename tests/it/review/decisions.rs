//! What a review comes to.

use super::world::{Repo, good_panel};

#[test]
fn a_planted_fault_survives_the_vote_and_an_invented_one_dies_in_it() {
    let repo = Repo::with(&good_panel());
    let (out, err) = repo.review(&[], 1);
    println!("{out}\n{err}");
    let session = repo.session();
    for entry in walk(session.dir()) {
        println!("{entry}");
    }
    println!("{}", session.text("events.jsonl"));
    println!("{}", session.text("verdict.json"));
    panic!("look");
}

fn walk(dir: &std::path::Path) -> Vec<String> {
    let mut v = vec![];
    for e in std::fs::read_dir(dir).unwrap() {
        let p = e.unwrap().path();
        if p.is_dir() {
            v.extend(walk(&p));
        } else {
            v.push(p.display().to_string());
        }
    }
    v.sort();
    v
}
