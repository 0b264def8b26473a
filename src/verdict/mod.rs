//! From ballots to a verdict: tally, statistics, rendering.
