//! `long double`, as messages carry it.

/// An x87 extended value in 16 bytes, the padding zero.
pub fn extended(value: f64) -> [u8; 16] {
    let bits = value.to_bits();
    let (mut exponent, mut fraction) = ((bits >> 52) as u16 & 0x7ff, bits & ((1 << 52) - 1));
    let significand = match exponent {
        0 if fraction == 0 => 0,
        0 => {
            // Subnormal here, normal there: the exponent has more room.
            let shift = fraction.leading_zeros() as u16;
            exponent = 15372 - shift;
            fraction << shift
        }
        0x7ff => {
            exponent = 0x7fff;
            fraction <<= 11;
            fraction | 1 << 63
        }
        _ => {
            exponent += 16383 - 1023;
            fraction << 11 | 1 << 63
        }
    };
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&significand.to_le_bytes());
    let sign = (bits >> 63) as u16;
    bytes[8..10].copy_from_slice(&(exponent | sign << 15).to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::extended;

    #[test]
    fn an_extended_value_is_the_x87_one() {
        let parts = |value: f64| {
            let bytes = extended(value);
            let significand = u64::from_le_bytes(bytes[..8].try_into().unwrap());
            (significand, u16::from_le_bytes([bytes[8], bytes[9]]))
        };
        assert_eq!(parts(1.0), (1 << 63, 0x3fff));
        assert_eq!(parts(-2.5), (0xa000_0000_0000_0000, 0xc000));
        assert_eq!(parts(0.0), (0, 0));
        // 2^-1074, the least of all.
        assert_eq!(parts(f64::from_bits(1)), (1 << 63, 16383 - 1074));
        assert_eq!(parts(f64::from_bits(1 << 51)), (1 << 63, 16383 - 1023));
    }
}
