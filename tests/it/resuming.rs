//! A session that was cut off, at whatever point, is finished by `team resume` as if nothing had happened.

mod drift;
mod imports;
mod inside;
mod mechanisms;
mod owners;
mod panels;
mod places;
mod plain_files;
mod records;
mod rounds;
mod world;
