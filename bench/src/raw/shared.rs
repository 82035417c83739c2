//! `raw-futex`, `raw-eventfd` and `raw-copy`: bytes in shared memory, and a word that the client
//! makes odd and the server even. Whoever waits for it sleeps at once, on the word itself, or in a
//! read of an eventfd, which counts how often it was written; or polls it.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::{Sealing, Segment, SpanMut, futex, processor};
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::child::{Failure, Link};
use crate::raw::exchange::{BYTES_MAX, Carrier};

/// Where the arguments begin; the words have the page before.
const ARGUMENTS: usize = PAGE_BYTES as usize;

/// Where the results begin.
const RESULTS: usize = ARGUMENTS + BYTES_MAX;

/// Bytes of the segment.
const SEGMENT_BYTES: usize = RESULTS + BYTES_MAX;

/// What the client writes for a length when it leaves.
const LEAVING: u32 = u32::MAX;

/// A client that does not come back for so long is taken for gone, in case it could not say so.
const SLICE: Duration = Duration::from_secs(600);

/// How one side wakes the other, and sleeps itself.
pub trait Bell: Sized + 'static {
    /// The client's, and what the child is to get for its own.
    fn client() -> Result<(Self, Vec<OwnedFd>), Failure>;

    /// What the child does.
    fn serve(link: &Link) -> Result<(), Failure>;

    /// Wakes the other side, which waits for the turn that was stored.
    fn ring(&self, head: &AStackHead) -> Result<(), Failure>;

    /// Sleeps until the turn may be another than `seen`.
    fn sleep(&self, head: &AStackHead, seen: u32) -> Result<(), Failure>;
}

/// On the word.
pub struct Futex;

/// On a descriptor each.
pub struct Eventfd {
    ours: OwnedFd,
    theirs: OwnedFd,
}

/// None: the other side polls.
pub struct Spin;

impl Bell for Spin {
    fn client() -> Result<(Spin, Vec<OwnedFd>), Failure> {
        Ok((Spin, Vec::new()))
    }

    fn serve(link: &Link) -> Result<(), Failure> {
        let [file] = link.descriptors()?;
        // Whoever polls hears nothing of its parent's end.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        answer(link, file, &Spin)
    }

    #[inline]
    fn ring(&self, _: &AStackHead) -> Result<(), Failure> {
        Ok(())
    }

    #[inline]
    fn sleep(&self, _: &AStackHead, _: u32) -> Result<(), Failure> {
        processor::relax_briefly();
        Ok(())
    }
}

impl Bell for Futex {
    fn client() -> Result<(Futex, Vec<OwnedFd>), Failure> {
        Ok((Futex, Vec::new()))
    }

    fn serve(link: &Link) -> Result<(), Failure> {
        let [file] = link.descriptors()?;
        answer(link, file, &Futex)
    }

    #[inline]
    fn ring(&self, head: &AStackHead) -> Result<(), Failure> {
        futex::wake_all(&head.turn);
        Ok(())
    }

    #[inline]
    fn sleep(&self, head: &AStackHead, seen: u32) -> Result<(), Failure> {
        match futex::wait(&head.turn, seen, SLICE) {
            futex::Woken::TimedOut => Err("the other process does not answer".into()),
            _ => Ok(()),
        }
    }
}

impl Bell for Eventfd {
    fn client() -> Result<(Eventfd, Vec<OwnedFd>), Failure> {
        let ours = eventfd(0, EventfdFlags::CLOEXEC)?;
        let theirs = eventfd(0, EventfdFlags::CLOEXEC)?;
        let handed = vec![theirs.try_clone()?, ours.try_clone()?];
        Ok((Eventfd { ours, theirs }, handed))
    }

    fn serve(link: &Link) -> Result<(), Failure> {
        let [file, ours, theirs] = link.descriptors()?;
        // Whoever sleeps in a read of an eventfd hears nothing of its parent's end.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        answer(link, file, &Eventfd { ours, theirs })
    }

    #[inline]
    fn ring(&self, _: &AStackHead) -> Result<(), Failure> {
        rustix::io::write(&self.theirs, &1_u64.to_ne_bytes())?;
        Ok(())
    }

    #[inline]
    fn sleep(&self, _: &AStackHead, _: u32) -> Result<(), Failure> {
        rustix::io::read(&self.ours, &mut [0; 8])?;
        Ok(())
    }
}

/// The client's side.
pub struct Shared<B: Bell> {
    segment: Segment,
    bell: B,
    even: u32,
}

impl<B: Bell> Shared<B> {
    /// The client's side, and what the other side is to get.
    pub fn client() -> Result<(Box<dyn Carrier>, Vec<OwnedFd>), Failure> {
        let (segment, file) = Segment::create("bench-shared", SEGMENT_BYTES, Sealing::BothWrite)?;
        let (bell, bells) = B::client()?;
        let theirs = std::iter::once(file).chain(bells).collect();
        Ok((Box::new(Shared { segment, bell, even: 0 }), theirs))
    }
}

impl<B: Bell> Drop for Shared<B> {
    fn drop(&mut self) {
        if let Ok((head, _)) = parts(&self.segment) {
            // Relaxed: made visible by the turn.
            head.message_bytes.store(LEAVING, Ordering::Relaxed);
            // If it cannot be told, it is ended.
            let _ = pass(&self.bell, head, self.even + 1);
        }
    }
}

impl<B: Bell> Carrier for Shared<B> {
    fn exchange(&mut self, arguments: &[u8], results: &mut [u8]) -> Result<(), Failure> {
        let (head, span) = parts(&self.segment)?;
        span.copy_in(ARGUMENTS, arguments);
        // Relaxed, both: made visible by the turn.
        head.message_bytes.store(arguments.len() as u32, Ordering::Relaxed);
        head.selector.store(results.len() as u32, Ordering::Relaxed);
        pass(&self.bell, head, self.even + 1)?;
        self.even += 2;
        wait_until(&self.bell, head, self.even)?;
        span.as_span().copy_out(RESULTS, results);
        Ok(())
    }
}

/// What the child does. It copies the arguments, as a server that looked at them would.
fn answer<B: Bell>(link: &Link, file: OwnedFd, bell: &B) -> Result<(), Failure> {
    let segment = Segment::receive(file, SEGMENT_BYTES, Sealing::BothWrite)?;
    let (head, span) = parts(&segment)?;
    let mut bytes = vec![0; BYTES_MAX];
    link.answer(0)?;
    for odd in (1..).step_by(2) {
        wait_until(bell, head, odd)?;
        // Relaxed, both: made visible by the turn.
        let length = head.message_bytes.load(Ordering::Relaxed);
        let back = head.selector.load(Ordering::Relaxed) as usize;
        if length == LEAVING {
            break;
        }
        span.as_span().copy_out(ARGUMENTS, &mut bytes[..length as usize]);
        span.copy_in(RESULTS, &bytes[..back]);
        pass(bell, head, odd + 1)?;
    }
    Ok(())
}

fn parts(segment: &Segment) -> Result<(&AStackHead, SpanMut<'_>), Failure> {
    let span = segment.span_mut().ok_or("the segment is not writable")?;
    Ok((span.line(0).ok_or("the segment has no line")?, span))
}

/// Gives the turn to the other side, and wakes it.
#[inline]
fn pass(bell: &impl Bell, head: &AStackHead, turn: u32) -> Result<(), Failure> {
    // Release: what was written before is for whoever sees the turn.
    head.turn.store(turn, Ordering::Release);
    bell.ring(head)
}

#[inline]
fn wait_until(bell: &impl Bell, head: &AStackHead, turn: u32) -> Result<(), Failure> {
    loop {
        // Acquire: what the other side wrote before it passed the turn is there.
        let seen = head.turn.load(Ordering::Acquire);
        if seen == turn {
            return Ok(());
        }
        bell.sleep(head, seen)?;
    }
}
