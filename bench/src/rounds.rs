//! Rounds: a subject measured between two measurements of its bound, and what is made of many.
//!
//! ```text
//! one round:   bound   subject   bound        thrown away if the class of the bound has changed
//! one table:   round of case 1, round of case 2, … , and all of that again and again
//! ```
//!
//! Times of two runs cannot be compared: a machine's processors change places, clock rates and
//! neighbours. Ratios to what the same machine could do in the same tenth of a second can. Decides
//! which rounds count and in which class; measures nothing itself.

use crate::statistics::{Samples, Summary, extremes, median, spread};

/// A line that moves between two processors and back in less is near.
const NEAR_NS_MAX: f64 = 110.0;

/// Where the two processors of a round were, as the bound tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// Two, with a cache in common.
    Near,
    /// Two, without.
    Far,
    /// One processor for both sides.
    One,
}

/// What a ratio is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// What is usual, because nothing that is rare can move it.
    P50,
    /// Where what is rare is the question.
    P99,
    /// Where a few long waits are what a policy costs.
    Mean,
}

/// A bound, measured once each way that it can be measured; the fastest way is the bound.
pub type Look = Vec<Samples>;

/// A round that counts.
#[derive(Clone, Debug)]
pub struct Round {
    placement: Placement,
    subject: Samples,
    /// Before and after, in the way that was faster.
    bound: Samples,
}

/// The rounds of a case.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rounds: Vec<Round>,
    thrown: u32,
}

/// What the rounds of one class say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The class.
    pub placement: Placement,
    /// How many rounds.
    pub rounds: u32,
    /// The subject, over all of them.
    pub subject: Summary,
    /// Its bound, over all of them.
    pub bound: Summary,
    /// Median over rounds of the subject's statistic by the bound's.
    pub ratio: f64,
    /// The best round's.
    pub ratio_min: f64,
    /// The worst round's.
    pub ratio_max: f64,
    /// How far the bound's own statistic lay apart from round to round.
    pub spread: f64,
}

impl Statistic {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::P50 => "p50",
            Statistic::P99 => "p99",
            Statistic::Mean => "mean",
        }
    }

    /// What people are told beside a ratio that is not of the p50.
    pub fn remark(self) -> &'static str {
        match self {
            Statistic::P50 => "",
            Statistic::P99 => " of p99",
            Statistic::Mean => " of mean",
        }
    }

    fn of(self, samples: &Samples) -> f64 {
        let summary = samples.summary();
        match self {
            Statistic::P50 => summary.p50_ns,
            Statistic::P99 => summary.p99_ns,
            Statistic::Mean => summary.mean_ns,
        }
    }
}

impl Placement {
    /// The class of two processors between which the bound takes so long.
    pub fn of_two(bound_ns: f64) -> Placement {
        if bound_ns < NEAR_NS_MAX { Placement::Near } else { Placement::Far }
    }

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Near => "near",
            Placement::Far => "far",
            Placement::One => "one",
        }
    }
}

impl Round {
    /// The round of these measurements, in this order; `None` if the processors changed places
    /// between the first and the last, because nobody knows where they were for the subject.
    ///
    /// Panics if a look is empty, or the two are of different ways.
    pub fn judge(
        class: impl Fn(f64) -> Placement,
        before: &Look,
        subject: Samples,
        after: &Look,
    ) -> Option<Round> {
        assert_eq!(before.len(), after.len(), "two looks at different bounds");
        let fastest_ns = |look: &Look| {
            let ways: Vec<f64> = look.iter().map(Samples::p50_ns).collect();
            extremes(&ways).0
        };
        let placement = class(fastest_ns(before));
        if placement != class(fastest_ns(after)) {
            return None;
        }
        let ways = before.iter().zip(after);
        let bound = ways
            .map(|(before, after)| Samples::together([before, after]))
            .min_by(|a, b| a.p50_ns().total_cmp(&b.p50_ns()))
            .expect("a look has a way");
        Some(Round { placement, subject, bound })
    }

    /// A round whose class is known, beside whatever `bound` is.
    pub fn new(placement: Placement, subject: Samples, bound: Samples) -> Round {
        Round { placement, subject, bound }
    }

    fn ratio(&self, statistic: Statistic) -> f64 {
        statistic.of(&self.subject) / statistic.of(&self.bound)
    }
}

impl Tally {
    /// None yet.
    pub const fn none() -> Tally {
        Tally { rounds: Vec::new(), thrown: 0 }
    }

    /// Takes note of a round, or that it was thrown away.
    pub fn add(&mut self, round: Option<Round>) {
        match round {
            Some(round) => self.rounds.push(round),
            None => self.thrown += 1,
        }
    }

    /// How many rounds were thrown away.
    pub fn thrown(&self) -> u32 {
        self.thrown
    }

    /// One verdict for each class that was met.
    pub fn verdicts(&self, statistic: Statistic) -> Vec<Verdict> {
        let classes = [Placement::Near, Placement::Far, Placement::One];
        classes.into_iter().filter_map(|placement| self.verdict(placement, statistic)).collect()
    }

    fn verdict(&self, placement: Placement, statistic: Statistic) -> Option<Verdict> {
        let of_class = |round: &&Round| round.placement == placement;
        let rounds: Vec<&Round> = self.rounds.iter().filter(of_class).collect();
        if rounds.is_empty() {
            return None;
        }
        let ratios: Vec<f64> = rounds.iter().map(|round| round.ratio(statistic)).collect();
        let bounds: Vec<f64> = rounds.iter().map(|round| statistic.of(&round.bound)).collect();
        let (ratio_min, ratio_max) = extremes(&ratios);
        Some(Verdict {
            placement,
            rounds: rounds.len() as u32,
            subject: Samples::together(rounds.iter().map(|round| &round.subject)).summary(),
            bound: Samples::together(rounds.iter().map(|round| &round.bound)).summary(),
            ratio: median(&ratios),
            ratio_min,
            ratio_max,
            spread: spread(&bounds),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(each_ns: u64) -> Samples {
        Samples::new(1, vec![each_ns; 3])
    }

    /// A bound polled in two ways.
    fn look(load_ns: u64, prefetch_ns: u64) -> Look {
        vec![samples(load_ns), samples(prefetch_ns)]
    }

    fn judged(before: Look, subject_ns: u64, after: Look) -> Option<Round> {
        Round::judge(Placement::of_two, &before, samples(subject_ns), &after)
    }

    #[test]
    fn near_ends_at_110_ns() {
        assert_eq!(Placement::of_two(109.9), Placement::Near);
        assert_eq!(Placement::of_two(110.0), Placement::Far);
    }

    #[test]
    fn a_round_whose_class_changed_is_thrown_away() {
        assert!(judged(look(50, 55), 60, look(380, 230)).is_none());
        assert!(judged(look(380, 230), 60, look(50, 55)).is_none());
        assert!(judged(look(50, 55), 60, look(52, 51)).is_some());
    }

    #[test]
    fn the_better_way_of_polling_decides_the_class() {
        assert!(judged(look(50, 200), 60, look(200, 50)).is_some());
        assert!(judged(look(200, 50), 60, look(200, 150)).is_none());
    }

    #[test]
    fn the_better_way_of_a_round_is_its_bound() {
        let round = judged(look(380, 230), 460, look(370, 230)).unwrap();
        assert_eq!(round.placement, Placement::Far);
        assert_eq!(round.bound.p50_ns(), 230.0);
        assert_eq!(round.ratio(Statistic::P50), 2.0);
    }

    #[test]
    fn one_processor_has_one_class_however_long_it_takes() {
        let class = |_| Placement::One;
        let (before, after) = (vec![samples(50)], vec![samples(2400)]);
        let round = Round::judge(class, &before, samples(2500), &after).unwrap();
        assert_eq!(round.placement, Placement::One);
    }

    #[test]
    fn thrown_rounds_are_counted_and_count_for_nothing() {
        let mut tally = Tally::default();
        tally.add(judged(look(50, 55), 60, look(50, 55)));
        tally.add(judged(look(50, 55), 9000, look(380, 230)));
        let verdicts = tally.verdicts(Statistic::P50);
        assert_eq!((tally.thrown(), verdicts.len(), verdicts[0].rounds), (1, 1, 1));
        assert_eq!(verdicts[0].subject.p50_ns, 60.0);
    }

    #[test]
    fn each_class_has_a_verdict_of_its_own() {
        let mut tally = Tally::default();
        for subject_ns in [55, 60, 100] {
            tally.add(judged(look(50, 55), subject_ns, look(50, 55)));
        }
        tally.add(judged(look(380, 230), 460, look(380, 230)));
        let [near, far] = tally.verdicts(Statistic::P50)[..] else {
            panic!("two classes were met")
        };
        assert_eq!((near.placement, near.rounds), (Placement::Near, 3));
        assert_eq!((near.ratio_min, near.ratio, near.ratio_max), (1.1, 1.2, 2.0));
        assert_eq!((far.placement, far.rounds, far.ratio), (Placement::Far, 1, 2.0));
    }

    #[test]
    fn the_ratio_is_the_median_of_ratios_not_the_ratio_of_medians() {
        let mut tally = Tally::default();
        for (bound_ns, subject_ns) in [(40, 80), (50, 50), (60, 60)] {
            let bound = || vec![samples(bound_ns)];
            let round = Round::judge(Placement::of_two, &bound(), samples(subject_ns), &bound());
            tally.add(round);
        }
        let verdict = tally.verdicts(Statistic::P50)[0];
        assert_eq!((verdict.ratio, verdict.spread), (1.0, 0.4));
    }

    #[test]
    fn a_ratio_can_be_of_what_is_rare() {
        let late = Samples::new(1, [vec![10; 98], vec![40; 2]].concat());
        let round = Round::new(Placement::One, late, samples(10));
        let of = |statistic| round.ratio(statistic);
        assert_eq!((of(Statistic::P50), of(Statistic::P99)), (1.0, 4.0));
        assert_eq!(of(Statistic::Mean), 1.06);
    }

    #[test]
    fn no_rounds_have_no_verdict() {
        assert!(Tally::default().verdicts(Statistic::P50).is_empty());
    }
}
