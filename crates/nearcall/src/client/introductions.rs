//! A client passes its binding on: the introduction that it asks its server for (design note 0019).

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::message::Message;
use nearcall_os::descriptor::{DescriptorKind, PeerDescriptor};

use super::binding::ClientBinding;
use super::control::{EXCHANGE_NS_MAX, Inbox};
use super::deadline::NEVER_NS;
use super::import::begin;
use crate::error::BindError;

/// Introductions that threads have asked for, by number.
#[derive(Debug, Default)]
pub(crate) struct Asked(HashMap<u32, Option<Answer>>);

#[derive(Debug)]
enum Answer {
    Introduced(PeerDescriptor),
    NotIntroduced,
}

impl Asked {
    /// Keeps what the server says of an introduction, `None`: there is none; closes it if nobody
    /// has asked.
    pub fn file(&mut self, number: u32, introduction: Option<PeerDescriptor>) {
        if let Some(answer @ None) = self.0.get_mut(&number) {
            *answer = Some(introduction.map_or(Answer::NotIntroduced, Answer::Introduced));
        }
    }
}

impl ClientBinding {
    /// Asks the server for an introduction.
    pub fn introduce(&self) -> Result<OwnedFd, BindError> {
        begin(&self.domain, "introduce")?;
        if !self.state.is_open() {
            return Err(self.nothing_to_give());
        }
        // Relaxed: a counter that orders nothing.
        let number = self.control.introductions.fetch_add(1, Relaxed);
        self.control.inbox().introductions.0.insert(number, None);
        let answer = self.answered(number);
        self.control.inbox().introductions.0.remove(&number);
        let name = || self.name.clone();
        match answer? {
            Answer::Introduced(introduction) => {
                let judged = DescriptorKind::Binding.check(introduction.as_fd());
                let wrong = |wrong: nearcall_os::WrongDescriptor| BindError::Peer {
                    name: name(),
                    reason: wrong.to_string(),
                };
                judged.map_err(wrong).map(|()| introduction.take())
            }
            Answer::NotIntroduced => {
                let reason = "it has no room for an introduction".to_owned();
                Err(BindError::Overloaded { name: name(), reason })
            }
        }
    }

    fn answered(&self, number: u32) -> Result<Answer, BindError> {
        let sent = self.control.socket().send(&Message::Introduce { number }, &[]);
        sent.map_err(|_| self.nothing_to_give())?;
        let find = |inbox: &mut Inbox| inbox.introductions.0.get_mut(&number)?.take();
        // A server that does not answer is given up: the binding is revoked then.
        let answer = self.await_message(NEVER_NS, EXCHANGE_NS_MAX, find);
        answer.map_err(|_| self.nothing_to_give())
    }

    fn nothing_to_give(&self) -> BindError {
        BindError::Revoked { name: self.name.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearcall_os::socket::Stream;

    fn descriptor() -> PeerDescriptor {
        OwnedFd::from(Stream::pair().unwrap().0).into()
    }

    #[test]
    fn an_answer_is_kept_for_who_has_asked_and_the_first_one_counts() {
        let mut asked = Asked::default();
        asked.file(3, Some(descriptor()));
        assert!(asked.0.is_empty(), "nobody has asked");
        asked.0.insert(3, None);
        asked.file(4, Some(descriptor()));
        assert!(matches!(asked.0.get(&3), Some(None)) && asked.0.len() == 1);
        asked.file(3, None);
        asked.file(3, Some(descriptor()));
        assert!(matches!(asked.0.get(&3), Some(Some(Answer::NotIntroduced))));
    }
}
