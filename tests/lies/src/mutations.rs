//! What chance makes of a valid message: other bits, words and lengths, an end that is too early
//! or too late. Most of it is refused, some of it is another value.

use crate::messages::Message;

/// Numbers from a seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From 1 on.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Any word: xorshift64*.
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.word() >> 11) as usize % limit
    }
}

/// A message with one to three changes.
pub fn mutated(message: &Message, random: &mut Random) -> Message {
    let mut changed = message.clone();
    for _ in 0..=random.below(3) {
        change(&mut changed, random);
    }
    changed
}

fn change(message: &mut Message, random: &mut Random) {
    let has_variable = !message.variable.is_empty() && random.below(2) == 0;
    let bytes = if has_variable { &mut message.variable } else { &mut message.fixed };
    match random.below(8) {
        _ if bytes.is_empty() => {}
        0 | 1 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        2 => {
            let at = random.below(bytes.len());
            bytes[at] = random.word() as u8;
        }
        3..=5 => word(bytes, random),
        6 => bytes.truncate(random.below(bytes.len())),
        _ if has_variable => {
            let more = (0..random.below(64)).map(|_| random.word() as u8);
            bytes.extend(more);
        }
        // The fixed part has no room to grow into: its last bytes are others.
        _ => bytes.iter_mut().rev().take(8).for_each(|byte| *byte = random.word() as u8),
    }
}

/// Puts a word that is often a length, or nearly one.
fn word(bytes: &mut [u8], random: &mut Random) {
    let Some(last) = bytes.len().checked_sub(4) else { return };
    let at = random.below(last / 4 + 1) * 4;
    let mut old = [0; 4];
    old.copy_from_slice(&bytes[at..at + 4]);
    let old = u32::from_le_bytes(old);
    let new = match random.below(8) {
        0 => 0,
        1 => old.wrapping_add(1),
        2 => old.wrapping_sub(1),
        3 => u32::MAX,
        4 => 1 << 31,
        5 => random.below(64) as u32,
        6 => bytes.len() as u32 + random.below(9) as u32,
        _ => random.word() as u32,
    };
    bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
}
