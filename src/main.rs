//! The program `team`; everything is in the library.

fn main() -> std::process::ExitCode {
    team::cli::main()
}
