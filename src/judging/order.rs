//! The order in which each judge sees its answers, balanced over the panel.

/// Evens out how often each answer stands in each place.
///
/// `orders[j]` is what judge `j` sees, as indices below `answers`. The orders given are cyclic, which is already exact
/// when every judge sees all answers or all but its own (each answer then stands once in each place). Where slots are
/// missing or models sit twice it is not. Judges and answers are then the two sides of a bipartite graph and places are
/// colours of its edges; where all judges see equally many answers, an equitable colouring exists (D. de Werra,
/// "Equitable colorations of graphs", 1971) and exchanges along alternating chains find it; else they come near.
/// Exact orders are left as they are.
pub(super) fn balance(orders: &mut [Vec<usize>], answers: usize) {
    let mut places = Places::count(orders, answers);
    // Every exchange that is kept lowers a sum of squares of whole numbers, so this ends.
    while (0..answers).any(|answer| places.even_out(orders, answer)) {}
}

/// How often each answer stands in each place.
struct Places {
    counts: Vec<Vec<i64>>,
}

impl Places {
    fn count(orders: &[Vec<usize>], answers: usize) -> Self {
        let places = orders.iter().map(Vec::len).max().unwrap_or(0);
        let mut counts = vec![vec![0; places]; answers];
        for order in orders {
            order.iter().enumerate().for_each(|(place, &answer)| counts[answer][place] += 1);
        }
        Self { counts }
    }

    /// Moves `answer` once from a place where it stands too often to one where it stands too rarely; whether it did.
    fn even_out(&mut self, orders: &mut [Vec<usize>], answer: usize) -> bool {
        let places = self.counts[answer].len();
        let pairs = (0..places).flat_map(|from| (0..places).map(move |to| (from, to)));
        let uneven: Vec<_> = pairs.filter(|&(from, to)| self.excess(answer, from, to) >= 2).collect();
        uneven.into_iter().any(|(from, to)| self.chain(orders, answer, from, to))
    }

    fn excess(&self, answer: usize, from: usize, to: usize) -> i64 {
        self.counts[answer][from] - self.counts[answer][to]
    }

    /// Exchanges the two places with one judge; where that makes the other answer uneven, goes on with it and another
    /// judge. Undone when the whole chain gained nothing.
    fn chain(&mut self, orders: &mut [Vec<usize>], mut answer: usize, from: usize, to: usize) -> bool {
        let mut exchanged: Vec<usize> = Vec::new();
        // The change of the sum of squares: moving from a count of c to one of d changes it by 2(d - c) + 2.
        let mut change = 0;
        while self.excess(answer, from, to) >= 2 {
            let judge = (0..orders.len()).find(|judge| {
                let order = &orders[*judge];
                order.get(from) == Some(&answer) && to < order.len() && !exchanged.contains(judge)
            });
            let Some(judge) = judge else { break };
            let other = orders[judge][to];
            change += 2 - 2 * self.excess(answer, from, to) + 2 + 2 * self.excess(other, from, to);
            self.exchange(&mut orders[judge], from, to);
            exchanged.push(judge);
            answer = other;
        }
        let gained = change < 0;
        if !gained {
            for judge in exchanged {
                self.exchange(&mut orders[judge], from, to);
            }
        }
        gained
    }

    fn exchange(&mut self, order: &mut [usize], from: usize, to: usize) {
        for (answer, leaves, enters) in [(order[from], from, to), (order[to], to, from)] {
            self.counts[answer][leaves] -= 1;
            self.counts[answer][enters] += 1;
        }
        order.swap(from, to);
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
        for (judges, answers) in [(2, 2), (4, 4), (6, 3), (3, 6), (9, 5), (12, 12), (7, 11), (40, 12)] {
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
