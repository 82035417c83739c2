//! Another user in this process: the kernel knows a user for each thread, and a socket has that of
//! the thread that connects.

use std::thread;

use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

/// What a process lacks that is not root, who alone becomes another user.
pub const ANOTHER_USER: &str = "the right to become another user";

/// Does `work` as user `uid`, on a thread of its own. `None`: [`ANOTHER_USER`] is lacking.
pub fn as_user<T: Send>(uid: u32, work: impl FnOnce() -> T + Send) -> Option<T> {
    if !geteuid().is_root() {
        return None;
    }
    let become_it = move || {
        let uid = Uid::from_raw(uid);
        set_thread_res_uid(uid, uid, uid).expect("root may become anybody");
        work()
    };
    thread::scope(|threads| Some(threads.spawn(become_it).join().expect("a user's thread")))
}
