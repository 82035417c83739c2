//! The bits of words, by number.

/// The lanes whose bits are set.
pub(super) fn lanes_of<const WORDS: usize>(mut words: [u64; WORDS]) -> impl Iterator<Item = u32> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while *words.get(at)? == 0 {
            at += 1;
        }
        let bit = words[at].trailing_zeros();
        words[at] &= words[at] - 1;
        Some(at as u32 * u64::BITS + bit)
    })
}

/// The bits that are set, the lowest first.
pub(super) fn bits_of(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(bit)
    })
}
