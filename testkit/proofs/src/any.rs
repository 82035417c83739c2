//! Values of which nothing is known.

/// What a claim is about: it takes from here whatever it says something of. A proof has every
/// value there at once, a test some.
#[derive(Debug)]
#[repr(C)]
pub struct Any {
    /// Bytes that were taken. The proof finds them before the others, and sets them to 0.
    taken: usize,
    bytes: [u8; Any::BYTES],
}

impl Any {
    /// Most that a claim takes.
    pub const BYTES: usize = 256;

    /// These values; what is missing is 0.
    ///
    /// # Panics
    ///
    /// If there are too many.
    pub fn of(values: &[u8]) -> Any {
        let mut bytes = [0; Any::BYTES];
        bytes[..values.len()].copy_from_slice(values);
        Any { taken: 0, bytes }
    }

    /// So many bytes.
    #[inline(always)]
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let begin = self.taken;
        self.taken += N;
        self.bytes[begin..self.taken].try_into().expect("as many as were asked for")
    }

    /// One byte.
    #[inline(always)]
    pub fn u8(&mut self) -> u8 {
        let [byte] = self.bytes();
        byte
    }

    /// A number.
    #[inline(always)]
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    /// A larger one.
    #[inline(always)]
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }
}
