//! Keeps secrets and names out of everything that is written or shown.
