//! Correlations of ranks.

use super::statistics::rounded;

/// Spearman's rank correlation of pairs, equal values sharing the mean of their ranks; `None` for fewer than three pairs
/// or where one side is all the same.
///
/// C. Spearman, "The proof and measurement of association between two things", American Journal of Psychology 15
/// (1904), 72-101; with ties, Pearson's correlation of the mean ranks.
#[must_use]
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let one = mean_ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let other = mean_ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let middle = (pairs.len() as f64 + 1.0) / 2.0;
    let sum =
        |one: &[f64], other: &[f64]| -> f64 { one.iter().zip(other).map(|(a, b)| (a - middle) * (b - middle)).sum() };
    let spread = sum(&one, &one) * sum(&other, &other);
    (spread > 0.0).then(|| rounded(sum(&one, &other) / spread.sqrt()))
}

/// The rank of each value from 1; equal ones share the mean of theirs.
fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let equal = order[from..].iter().take_while(|at| values[**at] == values[order[from]]).count();
        let mean = from as f64 + (equal as f64 + 1.0) / 2.0;
        order[from..from + equal].iter().for_each(|at| ranks[*at] = mean);
        from += equal;
    }
    ranks
}

/// The rank-biserial correlation: of all pairs of one value of each group, the share in which the first group's rank is
/// lower minus the share in which it is higher; 1 when the first group has all the first places. `first` are its ranks
/// among `all`, from 1, without ties; `None` when a group is empty.
///
/// E. E. Cureton, "Rank-biserial correlation", Psychometrika 21 (1956), 287-290; by way of the rank sum as in H. W. Wendt,
/// "Dealing with a common problem in social science", European Journal of Social Psychology 2 (1972), 463-465.
#[must_use]
pub fn rank_biserial(first: &[usize], all: usize) -> Option<f64> {
    let group = first.len();
    if group == 0 || group >= all {
        return None;
    }
    let sum: usize = first.iter().sum();
    // Pairs in which the first group's rank is the higher one.
    let higher = sum - group * (group + 1) / 2;
    Some(rounded(1.0 - 2.0 * higher as f64 / (group * (all - group)) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::tests::cases;

    #[test]
    fn correlations_are_those_of_an_independent_implementation() {
        let cases = cases(include_str!("../../fixtures/statistics/ranks.json"));
        assert!(cases.len() > 25);
        for case in cases {
            let list = |name: &str| -> Vec<f64> {
                case[name].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
            };
            let ours = match case["what"].as_str().unwrap() {
                "spearman" => spearman(&list("one").into_iter().zip(list("other")).collect::<Vec<_>>()),
                "rankBiserial" => {
                    let first: Vec<usize> = list("first").into_iter().map(|rank| rank as usize).collect();
                    rank_biserial(&first, case["all"].as_u64().unwrap() as usize)
                }
                other => panic!("{other}"),
            };
            match (ours, case["value"].as_f64()) {
                (Some(ours), Some(theirs)) => assert!((ours - theirs).abs() < 2e-6, "{case} {ours}"),
                (ours, theirs) => assert_eq!(ours, theirs, "{case}"),
            }
        }
    }

    #[test]
    fn what_says_nothing_is_undefined() {
        assert_eq!(spearman(&[(1.0, 2.0), (2.0, 3.0)]), None);
        assert_eq!((rank_biserial(&[], 3), rank_biserial(&[1, 2], 2)), (None, None));
        assert_eq!(rank_biserial(&[1, 2], 4), Some(1.0), "all the first places");
        assert_eq!(rank_biserial(&[3, 4], 4), Some(-1.0));
    }
}
