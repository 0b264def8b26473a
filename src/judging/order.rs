//! The order in which each judge sees its answers, balanced over the panel.

/// Evens out how often each answer stands in each place.
///
/// `orders[j]` is what judge `j` sees, as indices below `answers`. The orders given are cyclic, which is already exact
/// when every judge sees all answers or all but its own (each answer then stands once in each place). Where slots are
/// missing or models sit twice it is not; then two answers of one judge change places for as long as that lowers the
/// sum of squares of the counts (answer, place), the usual measure of imbalance. Exact orders are left as they are.
pub(super) fn balance(orders: &mut [Vec<usize>], answers: usize) {
    let places = orders.iter().map(Vec::len).max().unwrap_or(0);
    let mut counts = vec![0_i64; answers * places];
    let at = |answer: usize, place: usize| answer * places + place;
    for order in orders.iter() {
        for (place, &answer) in order.iter().enumerate() {
            counts[at(answer, place)] += 1;
        }
    }
    let mut changed = true;
    // Each exchange lowers a sum of whole numbers, so this ends.
    while changed {
        changed = false;
        for order in orders.iter_mut() {
            for first in 0..order.len() {
                for second in first + 1..order.len() {
                    let (a, b) = (order[first], order[second]);
                    let leave = counts[at(a, first)] + counts[at(b, second)];
                    let enter = counts[at(a, second)] + counts[at(b, first)];
                    // Moving one from a count of c to one of d changes the squares by 2(d - c) + 2; here two move.
                    if enter + 2 < leave {
                        counts[at(a, first)] -= 1;
                        counts[at(b, second)] -= 1;
                        counts[at(a, second)] += 1;
                        counts[at(b, first)] += 1;
                        order.swap(first, second);
                        changed = true;
                    }
                }
            }
        }
    }
}

/// The largest difference, over all answers, between how often an answer stands in its commonest and its rarest place,
/// counting only places that every judge who sees it has.
#[cfg(test)]
pub(super) fn spread(orders: &[Vec<usize>], answers: usize) -> usize {
    (0..answers)
        .map(|answer| {
            let seen: Vec<&Vec<usize>> = orders.iter().filter(|order| order.contains(&answer)).collect();
            let places = seen.iter().map(|order| order.len()).min().unwrap_or(0);
            let mut counts: std::collections::HashMap<usize, usize> = (0..places).map(|place| (place, 0)).collect();
            for order in seen {
                if let Some(place) = order.iter().position(|&a| a == answer) {
                    *counts.entry(place).or_default() += 1;
                }
            }
            counts.values().max().unwrap_or(&0) - counts.values().min().unwrap_or(&0)
        })
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latin_square_is_left_as_it_is() {
        let mut orders: Vec<Vec<usize>> = (0..7).map(|j| (0..7).map(|p| (j + p) % 7).collect()).collect();
        let before = orders.clone();
        balance(&mut orders, 7);
        assert_eq!(orders, before);
    }

    #[test]
    fn equal_orders_are_spread_as_evenly_as_the_numbers_allow() {
        for (judges, answers) in [(2, 2), (4, 4), (6, 3), (3, 6), (9, 5), (12, 12)] {
            let mut orders = vec![(0..answers).collect::<Vec<_>>(); judges];
            balance(&mut orders, answers);
            assert!(spread(&orders, answers) <= 1, "{judges} judges, {answers} answers: {orders:?}");
        }
    }

    #[test]
    fn every_judge_keeps_its_own_answers() {
        let mut orders = vec![vec![0, 1, 2], vec![0, 1], vec![2, 0, 3], vec![0, 3]];
        let sorted = |orders: &[Vec<usize>]| {
            orders
                .iter()
                .map(|o| {
                    let mut o = o.clone();
                    o.sort_unstable();
                    o
                })
                .collect::<Vec<_>>()
        };
        let before = sorted(&orders);
        balance(&mut orders, 4);
        assert_eq!(sorted(&orders), before);
    }
}
