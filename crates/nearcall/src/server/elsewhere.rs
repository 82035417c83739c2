//! Calls whose procedures go on elsewhere in the process: set aside for an event loop, or suspended
//! until somebody wakes them (design note 0022).
//!
//! Whoever they wait for may want the processor that the watcher polls on, and their client, who
//! spins on another one, waits for both. So while there are any the watcher has more patience with
//! who takes that between two spins.

use std::sync::Arc;

/// How many calls of a domain do.
#[derive(Debug, Default)]
pub(crate) struct CallsElsewhere {
    /// Each of them shares it.
    counted: Arc<()>,
}

/// A call goes on elsewhere as long as this is kept.
#[derive(Debug)]
#[must_use]
pub(crate) struct Elsewhere {
    _counted: Arc<()>,
}

impl CallsElsewhere {
    /// One more does.
    pub fn begin(&self) -> Elsewhere {
        Elsewhere { _counted: Arc::clone(&self.counted) }
    }

    /// Whether any does.
    ///
    /// # Cost: a load of what those threads write.
    #[inline]
    pub fn are_some(&self) -> bool {
        Arc::strong_count(&self.counted) > 1
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::mpsc::{self, Sender};
    use std::task::{Poll, Waker};
    use std::time::Instant;

    use nearcall_abi::{AStackClass, InterfaceDescriptor};

    use crate::CallError;
    use crate::raw::{Arguments, Client, Deferred, Entries, Finish, Outcome};
    use crate::testing::{FOR_EVER, TestServer, null_interface};

    const CLASSES: [AStackClass; 1] = [AStackClass { block_bytes: 0, count: 5 }];
    static INTERFACE: InterfaceDescriptor = null_interface(&CLASSES);

    /// Has each call go on when a test says so.
    enum Later {
        Aside(Sender<Deferred>),
        Woken(Sender<Waker>),
    }

    impl Entries for Later {
        fn interface(&self) -> &'static InterfaceDescriptor {
            &INTERFACE
        }

        fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
            match self {
                Later::Aside(calls) => arguments.defer(None, |call| calls.send(call).unwrap()),
                Later::Woken(wakers) => {
                    let mut wakers = Some(wakers.clone());
                    arguments.run_awaited(poll_fn(move |context| match wakers.take() {
                        None => Poll::Ready(Box::new(finish) as Finish),
                        Some(wakers) => {
                            wakers.send(context.waker().clone()).unwrap();
                            Poll::Pending
                        }
                    }))
                }
            }
        }

        fn is_awaited(&self) -> bool {
            true
        }
    }

    fn finish(arguments: Arguments<'_>) -> Outcome {
        arguments.results().reply(0)
    }

    /// Makes a call, which is elsewhere until `go_on` has it go on, and waits until it is not.
    fn call(server: &TestServer, go_on: impl FnOnce()) -> Result<(), CallError> {
        let elsewhere = &server.domain().core().processors.elsewhere;
        assert!(!elsewhere.are_some());
        let client = Client::new(server.import(), &INTERFACE);
        let call = client.claim_brief::<0>(0).unwrap();
        let pending = call.post_pending::<0, 0, (), CallError, _>(|_| Ok(())).unwrap();
        go_on();
        let outcome = pending.collect();
        let begin = Instant::now();
        while elsewhere.are_some() {
            assert!(begin.elapsed() < FOR_EVER, "it is counted still");
            std::thread::yield_now();
        }
        outcome
    }

    #[test]
    fn a_call_that_is_set_aside_is_elsewhere_until_its_reply_or_its_end() {
        let (hand, handed) = mpsc::channel();
        let server = TestServer::new("aside-elsewhere", Later::Aside(hand));
        let elsewhere = &server.domain().core().processors.elsewhere;
        for is_replied in [true, false] {
            let outcome = call(&server, || {
                let call = handed.recv_timeout(FOR_EVER).unwrap();
                assert!(elsewhere.are_some());
                match is_replied {
                    true => call.reply(finish),
                    false => drop(call),
                }
            });
            assert_eq!(outcome.is_ok(), is_replied, "{outcome:?}");
        }
    }

    #[test]
    fn a_call_that_is_suspended_is_elsewhere_until_it_is_polled_again() {
        let (hand, handed) = mpsc::channel();
        let server = TestServer::new("woken-elsewhere", Later::Woken(hand));
        let elsewhere = &server.domain().core().processors.elsewhere;
        let outcome = call(&server, || {
            let waker = handed.recv_timeout(FOR_EVER).unwrap();
            // It is kept once the poll that has given its waker away has returned.
            while !elsewhere.are_some() {
                std::thread::yield_now();
            }
            waker.wake();
        });
        outcome.unwrap();
    }
}
