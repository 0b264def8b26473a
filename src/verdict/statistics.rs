//! Uncertainty of a score and agreement of judges.

use super::Interval;

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % score interval of `successes` in `trials`; `None` without trials.
///
/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
/// Statistical Association 22 (1927), 209-212; without continuity correction.
#[must_use]
pub fn wilson_interval(successes: u32, trials: u32) -> Option<Interval> {
    wilson_of(f64::from(successes), f64::from(trials))
}

/// The same where a success may be half a one.
pub(super) fn wilson_of(successes: f64, n: f64) -> Option<Interval> {
    if n <= 0.0 {
        return None;
    }
    let p = successes / n;
    let denominator = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / denominator;
    let half = Z / denominator * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At 0 and at all successes the bound is exact; the subtraction would leave a rounding error.
    let low = if successes <= 0.0 { 0.0 } else { centre - half };
    let high = if successes >= n { 1.0 } else { centre + half };
    Some(Interval { low: rounded(low), high: rounded(high) })
}

/// The valid votes on one answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VoteCounts {
    /// Approvals.
    pub approvals: u32,
    /// Rejections.
    pub rejections: u32,
}

impl VoteCounts {
    /// Approvals and rejections.
    #[must_use]
    pub const fn all(self) -> u32 {
        self.approvals + self.rejections
    }
}

/// Krippendorff's alpha for nominal data with two values; answers are the units, judges the coders, and missing votes
/// and abstentions missing values. `None` when it is undefined: no unit has two values, or all values are the same.
///
/// K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C; with two values the coincidence
/// matrix has the off-diagonal sum `sum over units of 2 * approvals * rejections / (votes - 1)`.
#[must_use]
pub fn krippendorff_alpha(units: &[VoteCounts]) -> Option<f64> {
    let (mut approvals, mut rejections, mut observed) = (0_u64, 0_u64, 0.0);
    for unit in units.iter().filter(|unit| unit.all() >= 2) {
        approvals += u64::from(unit.approvals);
        rejections += u64::from(unit.rejections);
        observed += 2.0 * f64::from(unit.approvals) * f64::from(unit.rejections) / f64::from(unit.all() - 1);
    }
    if approvals == 0 || rejections == 0 {
        return None;
    }
    let (approvals, rejections) = (approvals as f64, rejections as f64);
    let expected = 2.0 * approvals * rejections / (approvals + rejections - 1.0);
    Some(rounded(1.0 - observed / expected))
}

/// To six decimals: far finer than the uncertainty, and the same text on every machine.
pub(super) fn rounded(value: f64) -> f64 {
    // Adding zero turns a negative zero into zero.
    (value * 1e6).round() / 1e6 + 0.0
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::verdict::tests::cases;

    #[test]
    fn intervals_are_those_of_an_independent_implementation() {
        let cases = cases(include_str!("../../fixtures/statistics/intervals.json"));
        assert!(cases.len() > 40);
        for case in cases {
            let number = |name: &str| case[name].as_f64().unwrap();
            let ours = wilson_interval(number("successes") as u32, number("trials") as u32).unwrap();
            assert!((ours.low - number("low")).abs() < 1e-6, "{case} {ours:?}");
            assert!((ours.high - number("high")).abs() < 1e-6, "{case} {ours:?}");
        }
        assert_eq!(wilson_interval(0, 0), None);
    }

    #[test]
    fn agreement_is_that_of_an_independent_implementation() {
        let cases = cases(include_str!("../../fixtures/statistics/agreement.json"));
        assert!(cases.len() > 10);
        for case in cases {
            let judges: Vec<&Vec<Value>> =
                case["votes"].as_array().unwrap().iter().map(|row| row.as_array().unwrap()).collect();
            let units: Vec<VoteCounts> = (0..judges[0].len())
                .map(|answer| {
                    let votes =
                        |value: u64| judges.iter().filter(|row| row[answer].as_u64() == Some(value)).count() as u32;
                    VoteCounts { approvals: votes(1), rejections: votes(0) }
                })
                .collect();
            let ours = krippendorff_alpha(&units);
            let theirs = case["alpha"].as_f64();
            match (ours, theirs) {
                (Some(ours), Some(theirs)) => assert!((ours - theirs).abs() < 1e-6, "{case} {ours}"),
                _ => assert_eq!(ours, theirs, "{case}"),
            }
        }
    }

    #[test]
    fn agreement_is_undefined_without_pairs_or_without_variation() {
        let unit = |approvals, rejections| VoteCounts { approvals, rejections };
        assert_eq!(krippendorff_alpha(&[]), None);
        assert_eq!(krippendorff_alpha(&[unit(1, 0), unit(0, 1)]), None);
        assert_eq!(krippendorff_alpha(&[unit(3, 0), unit(2, 0)]), None);
        assert_eq!(krippendorff_alpha(&[unit(3, 0), unit(0, 2)]), Some(1.0));
    }
}
