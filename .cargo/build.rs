//! Links `team` at a fixed address on Linux.
//!
//! A program that can be loaded anywhere has its tables of pointers filled in at every start: some 25 000 of them, on
//! about 110 pages that are copied for it. That was about a third of the processor time of `team --version`, and two
//! stages of this program start with every process slot. Heap, stack and libraries still lie at random places.

fn main() {
    println!("cargo::rerun-if-changed=.cargo/build.rs");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=team=-no-pie");
    }
}
