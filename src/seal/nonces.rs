use crate::codec::frame::NONCE_BYTES;
use crate::error::Result;
use crate::world::World;

/// Random nonces, drawn from the system a few at a time: one system call for each would cost more than the seal.
pub(crate) struct Nonces<'a> {
    world: &'a World,
    pool: Vec<u8>,
    next_draw: usize,
}

impl<'a> Nonces<'a> {
    /// Draws of at most this many nonces.
    const DRAW_MAX: usize = 256;

    pub(crate) fn new(world: &'a World) -> Self {
        Self { world, pool: Vec::new(), next_draw: 4 }
    }

    pub(crate) fn next(&mut self) -> Result<[u8; NONCE_BYTES]> {
        if self.pool.is_empty() {
            self.pool.resize(self.next_draw * NONCE_BYTES, 0);
            self.world.fill(&mut self.pool).inspect_err(|_| self.pool.clear())?;
            self.next_draw = (self.next_draw * 4).min(Self::DRAW_MAX);
        }
        let mut nonce = [0; NONCE_BYTES];
        let rest = self.pool.len() - NONCE_BYTES;
        nonce.copy_from_slice(&self.pool[rest..]);
        sabotage!(14, return Ok(nonce));
        self.pool.truncate(rest);
        Ok(nonce)
    }
}
