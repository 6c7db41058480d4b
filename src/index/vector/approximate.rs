//! Approximate answers, for those who ask for them: estimates rule rows out, the rest is exact.
//!
//! A row is left out where its estimate is further under the floor than estimates are likely to be.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::{Mutex, RwLock};

use super::arena::Arena;
use super::asked::AskedBefore;
use super::ivf::{Growth, Member};
use super::law::{Law, Moments};
use super::request::{Candidate, Outcome, Request};
use super::scan::{Hurdle, Place, Survivor, Worker};
use super::search::Plan;
use super::top::SharedFloor;
use super::watch::Watch;
use crate::codec::measured::Measured;
use crate::error::Result;
use crate::kernel::{BitQuery, padded};

/// Smaller users are answered exactly.
const ROWS_MIN: usize = 8192;
/// From here on rows are gathered in lists.
const LISTS_ROWS_MIN: usize = 32_768;
/// Past this part of all rows an exact answer is as cheap.
const HITS_PART: usize = 16;
/// Blocks that say where the floor will be, before lists are looked up.
const FIRST_BLOCKS: usize = 8;

/// How an approximate answer will be had.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    pub(super) target: f64,
    /// How estimates are off, and by how many spreads one may be under the floor.
    law: Law,
    margin: f64,
    /// Deviations that margins were widened by.
    pub(super) wider: f64,
}

impl Aim {
    pub(super) fn new(target: f64, law: Law, wider: f64) -> Self {
        Self { target, law, margin: law.wide_margin(target, wider), wider }
    }

    /// By how much estimates may be under the floor, per spread of a row.
    pub(super) fn reach(&self, query: &BitQuery) -> f32 {
        self.margin as f32 * query.norm()
    }
}

/// Rows that may be hits, and what they had to reach.
#[derive(Default)]
pub(super) struct Found {
    survivors: Vec<Survivor>,
    hurdles: Vec<Hurdle>,
    scanned_rows: usize,
    /// How near hits are to their lists, and what was allowed, where lists were used.
    lists: Option<(Law, f64)>,
}

impl Found {
    pub(super) fn by_lists(worker: Worker<'_>, law: Law, margin: f64) -> Self {
        Self { lists: Some((law, margin)), ..Self::from(worker) }
    }

    /// Adds what was found first; its hurdles count where both found a row.
    fn after(mut self, first: Self) -> Self {
        self.survivors.extend(first.survivors);
        self.survivors.sort_unstable_by_key(Survivor::place);
        self.survivors.dedup_by_key(|survivor| survivor.place());
        self.hurdles.splice(0..0, first.hurdles);
        Self { scanned_rows: self.scanned_rows + first.scanned_rows, ..self }
    }
}

impl From<Worker<'_>> for Found {
    fn from(worker: Worker<'_>) -> Self {
        let Worker { survivors, hurdles, scanned_rows, .. } = worker;
        Self { survivors, hurdles, scanned_rows, lists: None }
    }
}

/// What was measured so far.
#[derive(Default)]
pub(super) struct Trials(Mutex<Trial>);

#[derive(Default)]
struct Trial {
    /// How estimates are off, and how many rows there were then.
    law: Option<(usize, Law)>,
    sampled: Moments,
    watch: Watch,
    asked: AskedBefore,
    /// How estimates were off for the questions that were asked, and how many those were.
    seen: (Moments, usize),
}

impl Trial {
    /// The law of what is known; none where that is too little.
    fn law(&self) -> Option<Law> {
        Law::of_both(&self.sampled, &self.seen.0, self.seen.1)
    }
}

impl Trials {
    pub(super) fn bytes(&self) -> usize {
        self.0.lock().asked.bytes()
    }

    /// What is worth keeping beyond this process; none before the first answer.
    fn measured(&self, space: u32) -> Option<Measured> {
        let trial = self.0.lock();
        let (rows, _) = trial.law?;
        let (watched, watch) = trial.watch.to_stored();
        let (sampled, asked) = (trial.sampled.to_stored(), trial.seen.0.to_stored());
        Some(Measured { space, rows: rows as u32, sampled, asked, questions: trial.seen.1 as u32, watched, watch })
    }

    /// Goes on from there; what makes no sense is measured anew.
    fn resume(&mut self, measured: &Measured) {
        let moments = (Moments::from_stored(measured.sampled), Moments::from_stored(measured.asked));
        let (Some(sampled), Some(asked)) = moments else { return };
        let watch = Watch::from_stored(measured.watched, measured.watch);
        let mut trial = Trial { sampled, watch, seen: (asked, measured.questions as usize), ..Trial::default() };
        trial.law = trial.law().map(|law| (measured.rows as usize, law));
        *self.0.get_mut() = trial;
    }
}

/// Lists of alike rows, where there are any.
#[derive(Default)]
pub(super) struct Alike {
    lists: RwLock<Option<Growth>>,
    /// Changes whenever searches have made something that takes memory.
    grown: AtomicUsize,
}

impl Alike {
    pub(super) fn add(&mut self, member: Option<&Member<'_>>) {
        if let (Some(growth), Some(member)) = (self.lists.get_mut(), member) {
            growth.add(member);
        }
    }

    pub(super) fn forget(&mut self, member: Option<&Member<'_>>) {
        let (growth, Some(member)) = (self.lists.get_mut(), member) else { return };
        if growth.as_ref().is_some_and(|growth| growth.has_sampled(member.facts.row)) {
            *growth = None;
        }
        if let Some(growth) = growth {
            growth.forget(member);
        }
    }

    pub(super) fn change(&mut self, member: Option<&Member<'_>>) {
        if let (Some(growth), Some(member)) = (self.lists.get_mut(), member) {
            growth.change(member);
        }
    }

    #[cfg(feature = "testing")]
    pub(super) fn forbid(&mut self) {
        *self.lists.get_mut() = Some(Growth::Useless);
    }

    pub(super) fn grown(&self) -> usize {
        self.grown.load(Relaxed)
    }

    pub(super) fn bytes(&self) -> usize {
        self.lists.read().as_ref().map_or(0, Growth::bytes)
    }

    #[cfg(test)]
    pub(super) fn peek<R>(&self, look: impl FnOnce(Option<&Growth>) -> R) -> R {
        look(self.lists.read().as_ref())
    }
}

impl Arena {
    /// What approximate answers have measured, for vectors of `space`.
    pub(crate) fn measured(&self, space: u32) -> Option<Measured> {
        self.trials.measured(space)
    }

    /// Goes on from what an earlier process has measured of these rows.
    pub(crate) fn resume(&mut self, measured: &Measured) {
        self.trials.resume(measured);
    }

    /// The answer from the rows that are likely enough, where that is cheaper than an exact one.
    pub(super) fn answer_roughly(&self, request: &Request<'_>, plan: &Plan, target: f64) -> Result<Outcome> {
        let Some((aim, is_due)) = self.aim(request, plan, target) else { return self.answer(request, plan) };
        let rough = self.answer_likely(request, plan, &aim)?;
        let said = rough.approximate.unwrap_or(1.0);
        if !is_due {
            let approximate = Some(self.trials.0.lock().watch.correct(said));
            return Ok(Outcome { approximate, ..rough });
        }
        let exact = self.answer(request, plan)?;
        let is_found = |hit: &&Candidate| rough.hits.iter().any(|found| found.row == hit.row);
        let found = exact.hits.iter().filter(is_found).count();
        self.learn(request, &exact, |watch| watch.tell(target, said, exact.hits.len(), found));
        Ok(exact)
    }

    /// Learns from a question that was answered exactly.
    fn learn(&self, request: &Request<'_>, exact: &Outcome, tell: impl FnOnce(&mut Watch) -> bool) {
        let mut trial = self.trials.0.lock();
        let trial = &mut *trial;
        self.alike.grown.fetch_add(1, Relaxed);
        let is_bad = tell(&mut trial.watch);
        if let (Some(query), None) = (request.query, request.legs) {
            trial.asked.push(query, exact.hits.iter().map(|hit| hit.row).collect());
        }
        // Until as many are asked again, those of an earlier process say more.
        if trial.asked.len() >= trial.seen.1 {
            trial.seen = (Moments::of(&trial.asked.estimates(self)), trial.asked.len());
        }
        trial.law = trial.law.and_then(|(rows, _)| Some((rows, trial.law()?)));
        let Some(mut lists) = self.alike.lists.try_write() else { return };
        match lists.as_mut() {
            Some(Growth::Ready(_)) if is_bad => *lists = None,
            Some(Growth::Ready(ready)) => ready.learn(self, &trial.asked),
            _ => {}
        }
    }

    /// How to answer, and whether to check that; none where an exact answer is better.
    fn aim(&self, request: &Request<'_>, plan: &Plan, target: f64) -> Option<(Aim, bool)> {
        let dense = plan.planes.is_some() && plan.gain > 0.0;
        if self.len() < ROWS_MIN || !dense || plan.proof_k == 0 || request.k >= self.len() / HITS_PART {
            return None;
        }
        let mut trial = self.trials.0.lock();
        if trial.law.is_none_or(|(rows, _)| self.len() > rows + rows / 2) {
            self.alike.grown.fetch_add(1, Relaxed);
            trial.sampled = Moments::of(&self.measure());
            trial.seen = (Moments::of(&trial.asked.estimates(self)), trial.asked.len());
            trial.law = trial.law().map(|law| (self.len(), law));
        }
        let (_, law) = trial.law?;
        Some((Aim::new(target, law, trial.watch.wider()), trial.watch.is_due()))
    }

    pub(super) fn answer_likely(&self, request: &Request<'_>, plan: &Plan, aim: &Aim) -> Result<Outcome> {
        let floor = plan.first_floor(request);
        let found = self.scan_likely(request, plan, &floor, aim);
        self.finish_likely(request, plan, aim, floor.get(), found)
    }

    /// Scores what was found, and the chance that it was.
    pub(super) fn finish_likely(
        &self,
        request: &Request<'_>,
        plan: &Plan,
        aim: &Aim,
        least: f32,
        mut found: Found,
    ) -> Result<Outcome> {
        found.survivors.retain(|survivor| survivor.up >= least);
        let (hits, reranked_rows) = self.rerank(request, plan, std::mem::take(&mut found.survivors))?;
        let approximate = Some(self.chance_of(request, plan, aim, &found, &hits));
        Ok(Outcome { hits, total_rows: self.len(), scanned_rows: found.scanned_rows, reranked_rows, approximate })
    }

    /// Visits blocks, or lists, until none can hold a hit, and of their rows those that are likely to be one.
    fn scan_likely(&self, request: &Request<'_>, plan: &Plan, floor: &SharedFloor, aim: &Aim) -> Found {
        let query = BitQuery::new(request.query.unwrap_or_default(), padded(self.dims()));
        let mut worker = Worker::new(self, request, plan, floor);
        let (first, rest) = plan.order.split_at(FIRST_BLOCKS.min(plan.order.len()));
        let is_hopeful = |&&(bound, _): &&(f64, usize)| bound >= f64::from(floor.get());
        first.iter().take_while(is_hopeful).for_each(|&(_, block)| worker.visit_likely(block, &query, aim));
        if request.legs.is_none() && self.len() >= LISTS_ROWS_MIN && floor.get() > 0.0 {
            self.grow_lists();
            let blocks = rest.iter().take_while(is_hopeful).count();
            let lists = self.alike.lists.try_read();
            if let Some(Growth::Ready(lists)) = lists.as_deref().and_then(Option::as_ref)
                && let Some(found) = lists.search(self, request, plan, floor, (aim, &query), blocks)
            {
                return found.after(worker.into());
            }
        }
        rest.iter().take_while(is_hopeful).for_each(|&(_, block)| worker.visit_likely(block, &query, aim));
        self.alike.grown.fetch_add(worker.drawn, Relaxed);
        worker.into()
    }

    /// Builds lists one step further, unless somebody else uses them right now.
    pub(super) fn grow_lists(&self) {
        let Some(mut lists) = self.alike.lists.try_write() else { return };
        let growth = match lists.take() {
            Some(growth) if growth.is_done() => growth,
            growth => {
                self.alike.grown.fetch_add(1, Relaxed);
                let mut growth = growth.map_or_else(|| Growth::start(self), |growth| growth.step(self));
                if let Growth::Ready(ready) = &mut growth {
                    ready.learn(self, &self.trials.0.lock().asked);
                }
                growth
            }
        };
        *lists = Some(growth);
    }

    /// The chance that hits like these are found, from what each had to reach.
    fn chance_of(&self, request: &Request<'_>, plan: &Plan, aim: &Aim, found: &Found, hits: &[Candidate]) -> f64 {
        let norm = request.query.unwrap_or_default().iter().map(|x| x * x).sum::<f32>().sqrt();
        let chance = |hit: &Candidate| {
            let place = self.place_of(hit.row)?;
            let hurdle = found.hurdles.iter().find(|hurdle| hurdle.place == place)?;
            let estimate = aim.law.chance(aim.margin + self.room(plan, hit, hurdle, norm));
            let list = hurdle.entry.zip(found.lists);
            let entry = list.map_or(1.0, |(entry, (law, _))| law.chance(entry.allowed(hit.parts.dense_cos)));
            Some(estimate * entry)
        };
        let all: f64 = hits.iter().map(|hit| chance(hit).unwrap_or(1.0)).sum();
        if hits.is_empty() { 1.0 } else { all / hits.len() as f64 }
    }

    /// Spreads that the cosine of a hit is over what it needed to be.
    fn room(&self, plan: &Plan, hit: &Candidate, hurdle: &Hurdle, norm: f32) -> f64 {
        let (block, lane): Place = hurdle.place;
        let spread = self.blocks()[block].sketch(self.dims()).spreads()[lane] * norm;
        let needed = f64::from(hurdle.floor) * plan.shift.exp2() / hit.parts.score.max(f64::MIN_POSITIVE);
        hit.parts.relevance_raw * (1.0 - needed) / (plan.gain * f64::from(spread.max(f32::MIN_POSITIVE)))
    }
}
