//! Run, judge, verdict and close put together.
