//! Tally, statistics, rendering.
