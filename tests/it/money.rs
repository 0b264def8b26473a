//! What a panel costs: told with the verdict and not before, metered by `--max-cost`, and estimated by `--estimate`.

mod budget;
mod estimates;
mod told;
