//! Exact tests for the few votes that a panel has.

use std::collections::HashMap;

use super::statistics::rounded;

/// More values than these get no exact rank-sum test: a lean shows without one, and counting takes long.
const MOST_RANKED: usize = 40;

/// Tables as likely as the observed one up to this factor count as equally likely; the sums of logarithms are no finer.
const AS_LIKELY: f64 = 1.0 + 1e-7;

/// Fisher's exact test of two proportions, two-sided: how likely a table at most as likely as this one is when both have
/// the same chance. Each pair is successes and failures; `None` when a pair is empty.
///
/// R. A. Fisher, "The logic of inductive inference", Journal of the Royal Statistical Society 98 (1935), 39-82; the
/// two-sided sum over tables that are at most as likely is the one of R and SciPy.
#[must_use]
pub fn fisher_exact(one: (u32, u32), other: (u32, u32)) -> Option<f64> {
    let (of_one, of_other) = (one.0 + one.1, other.0 + other.1);
    if of_one == 0 || of_other == 0 {
        return None;
    }
    let successes = one.0 + other.0;
    let factorials = ln_factorials(of_one + of_other);
    let choose = |n: u32, k: u32| factorials[n as usize] - factorials[k as usize] - factorials[(n - k) as usize];
    let ln_likelihood =
        |k: u32| choose(of_one, k) + choose(of_other, successes - k) - choose(of_one + of_other, successes);
    let observed = ln_likelihood(one.0);
    let sum: f64 = (successes.saturating_sub(of_other)..=successes.min(of_one))
        .map(ln_likelihood)
        .filter(|likelihood| *likelihood <= observed + AS_LIKELY.ln())
        .map(f64::exp)
        .sum();
    Some(rounded(sum.min(1.0)))
}

/// The sign test, two-sided: how likely a split at least this uneven is when both signs have the same chance. `None`
/// without any.
///
/// W. J. Dixon and A. M. Mood, "The statistical sign test", Journal of the American Statistical Association 41 (1946),
/// 557-566.
#[must_use]
pub fn sign_test(positive: u32, negative: u32) -> Option<f64> {
    let all = positive + negative;
    if all == 0 {
        return None;
    }
    let factorials = ln_factorials(all);
    let ln_half = 0.5_f64.ln() * f64::from(all);
    let fewer = positive.min(negative);
    let tail: f64 = (0..=fewer)
        .map(|k| (factorials[all as usize] - factorials[k as usize] - factorials[(all - k) as usize] + ln_half).exp())
        .sum();
    Some(rounded((2.0 * tail).min(1.0)))
}

/// Natural logarithms of 0! to `most`!.
fn ln_factorials(most: u32) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain((1..=most).map(|n| {
            sum += f64::from(n).ln();
            sum
        }))
        .collect()
}

/// The exact rank-sum test; what was counted once serves all judges of a round.
#[derive(Debug, Default)]
pub struct RankSums {
    /// By how many values there are and how many of these are in the first group: in how many ways its ranks add up to
    /// each sum.
    ways: HashMap<(usize, usize), Vec<f64>>,
}

impl RankSums {
    /// How likely a rank sum at least this far from its middle is, on either side, when the groups are alike. `first`
    /// are the ranks of the first group among `all`, from 1, without ties. `None` when a group is empty or there are
    /// more than 40 values.
    ///
    /// F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945), 80-83; H. B. Mann and
    /// D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than the other",
    /// Annals of Mathematical Statistics 18 (1947), 50-60. Two-sided: twice the smaller tail.
    pub fn p_value(&mut self, first: &[usize], all: usize) -> Option<f64> {
        let group = first.len();
        if group == 0 || group >= all || all > MOST_RANKED {
            return None;
        }
        let sum: usize = first.iter().sum();
        let ways = self.ways.entry((all, group)).or_insert_with(|| count(all, group));
        let total: f64 = ways.iter().sum();
        let below: f64 = ways.iter().take(sum + 1).sum();
        let above: f64 = ways.iter().skip(sum).sum();
        Some(rounded((2.0 * below.min(above) / total).min(1.0)))
    }
}

/// In how many ways `group` of the numbers 1 to `all` add up to each sum.
fn count(all: usize, group: usize) -> Vec<f64> {
    let most = all * (all + 1) / 2;
    let mut ways = vec![vec![0.0; most + 1]; group + 1];
    ways[0][0] = 1.0;
    for number in 1..=all {
        for size in (1..=group.min(number)).rev() {
            for sum in (number..=most).rev() {
                ways[size][sum] += ways[size - 1][sum - number];
            }
        }
    }
    ways.swap_remove(group)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::verdict::tests::cases;

    fn numbers(value: &Value) -> Vec<u32> {
        value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as u32).collect()
    }

    #[test]
    fn exact_tests_are_those_of_an_independent_implementation() {
        let mut sums = RankSums::default();
        let cases = cases(include_str!("../../fixtures/statistics/exact.json"));
        assert!(cases.len() > 60);
        for case in cases {
            let ours = match case["test"].as_str().unwrap() {
                "fisher" => {
                    let (one, other) = (numbers(&case["one"]), numbers(&case["other"]));
                    fisher_exact((one[0], one[1]), (other[0], other[1]))
                }
                "sign" => {
                    let signs = numbers(&case["signs"]);
                    sign_test(signs[0], signs[1])
                }
                "rankSum" => {
                    let first: Vec<usize> = numbers(&case["first"]).into_iter().map(|rank| rank as usize).collect();
                    sums.p_value(&first, case["all"].as_u64().unwrap() as usize)
                }
                other => panic!("{other}"),
            };
            assert!((ours.unwrap() - case["p"].as_f64().unwrap()).abs() < 2e-6, "{case} {ours:?}");
        }
    }

    #[test]
    fn a_test_without_values_is_undefined() {
        assert_eq!(fisher_exact((0, 0), (1, 1)), None);
        assert_eq!(sign_test(0, 0), None);
        let mut sums = RankSums::default();
        assert_eq!((sums.p_value(&[], 3), sums.p_value(&[1, 2], 2), sums.p_value(&[1], 41)), (None, None, None));
    }
}
