//! Packets of a binding's socket: whatever a peer sends.

use core::hint::black_box;

use nearcall_abi::message::Message;

use crate::any::Any;

/// Longest that is claimed of: all kinds but imports, and refusals with a detail of two bytes.
const BYTES_MAX: usize = 20;

/// Of every kind but an import. Each length by itself, so that what is copied is as long as that.
#[inline(never)]
pub fn a_packet_that_is_a_message_is_written_the_same(any: &mut Any) -> bool {
    let (packet, length) = (any.bytes::<BYTES_MAX>(), usize::from(any.u8()));
    let Some(length) = (0..=BYTES_MAX).find(|each| black_box(*each) == length) else {
        return false;
    };
    let packet = &packet[..length];
    if matches!(packet, [1 | 23, 0, 0, 0, ..]) {
        return false;
    }
    let Ok(message) = Message::decode(packet) else { return false };
    let mut written = [0; BYTES_MAX];
    assert_eq!(message.encode(&mut written), Some(packet));
    true
}
