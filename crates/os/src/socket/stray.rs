//! Descriptors that come without having been sent: with `SO_PASSPIDFD` on a socket the kernel adds
//! a pidfd of the sender to every packet. Who has made our end and kept a duplicate of it can set
//! that at any time (whoever introduces itself makes both ends, 0019), and what nobody takes out of
//! the control messages stays open until the process ends.

use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// `SCM_PIDFD`, since 6.5.
const SCM_PIDFD: libc::c_int = 4;

/// Of a control message: its length with this, its level, its kind.
const HEADER_BYTES: usize = size_of::<libc::cmsghdr>();
const ALIGN: usize = align_of::<libc::cmsghdr>();

/// Room for control messages, all of it zero.
pub(super) fn space<const N: usize>() -> [MaybeUninit<u8>; N] {
    [MaybeUninit::new(0); N]
}

/// The pidfds among the control messages of a packet that was received into `space`.
///
/// # Safety
///
/// All of `space` has been written, it was zero before the packet came, and this is asked once a
/// packet: a descriptor is owned once.
pub(super) unsafe fn pidfds(space: &[MaybeUninit<u8>]) -> Vec<OwnedFd> {
    // SAFETY: the caller says that all of it has been written, and `MaybeUninit<u8>` lies as `u8`.
    let written = unsafe { &*(std::ptr::from_ref(space) as *const [u8]) };
    let start = written.as_ptr().align_offset(ALIGN).min(written.len());
    let mut rest = &written[start..];
    let mut found = Vec::new();
    while let Some((length, level, kind)) = header(rest) {
        let Some(data) = rest.get(HEADER_BYTES..length) else { break };
        if let (libc::SOL_SOCKET, SCM_PIDFD, Some(number)) = (level, kind, data.first_chunk()) {
            let number = RawFd::from_ne_bytes(*number);
            // Below 0: it has gone already.
            if number >= 0 {
                // SAFETY: the kernel has opened it for us with this packet, and nobody else knows
                // its number: the caller says that this is asked once.
                found.push(unsafe { OwnedFd::from_raw_fd(number) });
            }
        }
        rest = rest.get(length.next_multiple_of(ALIGN)..).unwrap_or_default();
    }
    found
}

/// Length, level and kind of the control message that begins here; `None` behind the last.
fn header(bytes: &[u8]) -> Option<(usize, libc::c_int, libc::c_int)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (level, rest) = rest.split_first_chunk()?;
    let length = usize::from_ne_bytes(*length);
    let number = |bytes: &[u8; 4]| libc::c_int::from_ne_bytes(*bytes);
    (length >= HEADER_BYTES).then(|| Some((length, number(level), number(rest.first_chunk()?))))?
}
