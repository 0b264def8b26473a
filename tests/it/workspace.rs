//! `--workspace`: programs answer in a read-only snapshot of a folder, which holds no session and stays as it was.

mod contents;
mod kept;
mod refusals;
mod resumed;
mod seats;
mod world;
