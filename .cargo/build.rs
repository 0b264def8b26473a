//! Links `team` at a fixed address on Linux.
//!
//! A program that can be loaded anywhere has its tables of pointers filled in at every start: some 20 000 of them, on
//! a hundred pages that are copied for it. That was over half of what `team --version` took, and two stages of this
//! program start with every process slot. Heap, stack and libraries still lie at random places.

fn main() {
    println!("cargo::rerun-if-changed=.cargo/build.rs");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=team=-no-pie");
    }
}
