//! What a power cut would leave.

use super::disk::Disk;
use super::op::{NodeId, Op};
use super::pages::pieces;
use crate::world::testing::SplitMix64;

/// Which of the changes that were not yet synced a crash keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashChoice {
    /// None of them.
    None,
    /// All of them, as after a kill of the process alone.
    All,
    /// Each change whole or not at all.
    Subset {
        /// Decides which.
        seed: u64,
    },
    /// Like [`Subset`](Self::Subset), with writes torn at multiples of `grain` bytes.
    Torn {
        /// 64, 512 or 4096 on real devices.
        grain: usize,
        /// Decides which.
        seed: u64,
    },
}

impl CrashChoice {
    /// `count` choices: none, all, then subsets and torn writes of each grain in turn.
    pub fn mix(seed: u64, count: usize) -> impl Iterator<Item = Self> {
        let mut seeds = SplitMix64::new(seed);
        (0..count).map(move |i| match (i, i % 4) {
            (0, _) => Self::None,
            (1, _) => Self::All,
            (_, 2) => Self::Subset { seed: seeds.next_u64() },
            (_, 3) => Self::Torn { grain: 512, seed: seeds.next_u64() },
            (_, 0) => Self::Torn { grain: 4096, seed: seeds.next_u64() },
            _ => Self::Torn { grain: 64, seed: seeds.next_u64() },
        })
    }
}

/// The durable state after a part of the log, and what was pending then. Steps forward only.
#[derive(Debug, Clone)]
pub(super) struct Replay {
    next: usize,
    durable: Disk,
    pending: Vec<Pending>,
}

#[derive(Debug, Clone)]
struct Pending {
    op: Op,
    awaits: [Option<NodeId>; 2],
}

impl Replay {
    pub(super) fn new(base: Disk) -> Self {
        Self { next: 0, durable: base, pending: Vec::new() }
    }

    /// How many operations have been replayed.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    pub(super) fn advance(&mut self, log: &[Op], to: usize) {
        for op in log.iter().take(to).skip(self.next) {
            self.step(op);
        }
        self.next = self.next.max(to.min(log.len()));
    }

    fn step(&mut self, op: &Op) {
        match op {
            Op::Sync { node } | Op::SyncDir { node } => self.settle(*node, super::disk::Disk::apply),
            Op::SyncFailed { node, seed } => {
                let mut fate = Fate::new(CrashChoice::Subset { seed: *seed });
                self.settle(*node, |durable, op| fate.apply(durable, op));
            }
            _ => {
                if let Op::Create { kind, .. } = op {
                    self.durable.admit(*kind);
                }
                self.pending.push(Pending { op: op.clone(), awaits: op.awaits() });
            }
        }
    }

    /// Ends the wait for `node`; changes that wait for nothing else go to `apply`.
    fn settle(&mut self, node: NodeId, mut apply: impl FnMut(&mut Disk, &Op)) {
        let durable = &mut self.durable;
        self.pending.retain_mut(|pending| {
            for awaited in &mut pending.awaits {
                awaited.take_if(|awaited| *awaited == node);
            }
            let waits = pending.awaits.iter().any(Option::is_some);
            if !waits {
                apply(durable, &pending.op);
            }
            waits
        });
    }

    pub(super) fn image(&self, choice: CrashChoice) -> Disk {
        let mut disk = self.durable.clone();
        let mut fate = Fate::new(choice);
        for pending in &self.pending {
            fate.apply(&mut disk, &pending.op);
        }
        disk
    }
}

/// Carries out the changes that survive.
struct Fate {
    choice: CrashChoice,
    dice: SplitMix64,
    /// Of 16 changes, how many survive: a few lost or a few kept are both worth seeing.
    odds: u64,
}

impl Fate {
    fn new(choice: CrashChoice) -> Self {
        let mut dice = SplitMix64::new(match choice {
            CrashChoice::Subset { seed } | CrashChoice::Torn { seed, .. } => seed,
            CrashChoice::None | CrashChoice::All => 0,
        });
        let odds = 1 + dice.below(15);
        Self { choice, dice, odds }
    }

    fn apply(&mut self, disk: &mut Disk, op: &Op) {
        if let (CrashChoice::Torn { grain, .. }, Op::Write { node, offset, data }) = (self.choice, op) {
            for piece in pieces(*offset, data.as_slice().len(), grain.max(1)) {
                if self.survives() {
                    disk.write(*node, offset + piece.at as u64, &data.as_slice()[piece.at..piece.at + piece.len]);
                }
            }
        } else if self.survives() {
            disk.apply(op);
        }
    }

    fn survives(&mut self) -> bool {
        match self.choice {
            CrashChoice::None => false,
            CrashChoice::All => true,
            CrashChoice::Subset { .. } | CrashChoice::Torn { .. } => self.dice.chance(self.odds, 16),
        }
    }
}
