//! Programs of a few instructions, written out here, so that how many there are is known.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use super::*;

/// Where a program lies, and in its file how much stands before its code.
const BASE: u64 = 0x40_0000;
const HEAD_BYTES: usize = 64 + 56;

/// Waits for a byte: `xor eax, eax; xor edi, edi; mov rsi, rsp; mov edx, 1; syscall`.
const WAIT: [u8; 14] = [0x31, 0xc0, 0x31, 0xff, 0x48, 0x89, 0xe6, 0xba, 1, 0, 0, 0, 0x0f, 0x05];

/// Begins a thread, which counts down for ever: `mov eax, 56; mov edi, 0x10f00 (a thread);
/// lea rsi, [rsp - 4096]; syscall; test eax, eax; jnz +4; dec ecx; jmp -4`.
const FORK: [u8; 28] = [
    0xb8, 56, 0, 0, 0, 0xbf, 0, 0x0f, 1, 0, 0x48, 0x8d, 0xb4, 0x24, 0, 0xf0, 0xff, 0xff, 0x0f,
    0x05, 0x85, 0xc0, 0x75, 4, 0xff, 0xc9, 0xeb, 0xfc,
];

/// Ends its process: `mov eax, 231 (exit_group); xor edi, edi; syscall`.
const END: [u8; 9] = [0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];

/// Goes round for ever: `mov ecx, ROUNDS; dec ecx; jnz -4; mov rsi, rsp; lea rdi, [rsp - 128];
/// mov ecx, 64; rep movsb; mov eax, 39 (getpid); syscall; jmp to the begin`.
const ROUND: [u8; 33] = [
    0xb9, ROUNDS, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x48, 0x89, 0xe6, 0x48, 0x8d, 0x7c, 0x24, 0x80,
    0xb9, 64, 0, 0, 0, 0xf3, 0xa4, 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xdf,
];
const ROUNDS: u8 = 100;

/// Instructions of it.
const ROUND_COUNT: u64 = 1 + 2 * ROUNDS as u64 + 7;

/// Times that the mark is visited.
const VISITS: usize = 10;

/// A program that was started, and told to go on once it is walked.
struct Program {
    process: Child,
    mark: u64,
    _directory: tempfile::TempDir,
}

impl Program {
    /// Of `code`, whose last part is [`ROUND`].
    fn start(code: &[&[u8]]) -> Program {
        let code = code.concat();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        fs::write(&path, [head(code.len()), code.clone()].concat()).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        let process = Command::new(&path).stdin(Stdio::piped()).spawn().unwrap();
        let mark = BASE + (HEAD_BYTES + code.len() - ROUND.len()) as u64;
        Program { process, mark, _directory: directory }
    }

    /// What is counted between visits of its mark.
    fn count(mut self) -> Vec<u64> {
        let mut walk = Walk::stop(self.process.id()).unwrap();
        self.process.stdin.take().unwrap().write_all(b"\n").unwrap();
        let between = walk.between(self.mark, VISITS).unwrap();
        drop(walk);
        // It is on its way, and has no end.
        assert_eq!(self.process.try_wait().unwrap(), None);
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        println!("counted {} times: {between:?}", between.len());
        between
    }
}

/// What stands before the code in its file: an ELF header, and that all is to be loaded.
fn head(code_bytes: usize) -> Vec<u8> {
    let mut head = Vec::from(*b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    // A program of x86_64, version 1.
    head.extend([2, 0, 62, 0, 1, 0, 0, 0]);
    // Its begin, its program headers, no section headers.
    for value in [BASE + HEAD_BYTES as u64, 64, 0] {
        head.extend(value.to_le_bytes());
    }
    // No flags; bytes of this header; bytes and number of program headers; nothing of sections.
    for value in [0_u16, 0, 64, 56, 1, 64, 0, 0] {
        head.extend(value.to_le_bytes());
    }
    // Load, to be read and executed: from 0 of the file, to `BASE`, all bytes of it.
    head.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    let bytes = (HEAD_BYTES + code_bytes) as u64;
    for value in [0, BASE, BASE, bytes, bytes, 4096] {
        head.extend(value.to_le_bytes());
    }
    assert_eq!(head.len(), HEAD_BYTES);
    head
}

#[test]
fn every_instruction_of_a_round_is_counted_once() {
    assert_eq!(Program::start(&[&WAIT, &ROUND]).count(), [ROUND_COUNT; VISITS - 1]);
}

#[test]
fn instructions_of_a_thread_that_began_on_the_way_are_counted() {
    let counts = Program::start(&[&WAIT, &FORK, &ROUND]).count();
    assert_eq!(counts.len(), VISITS - 1);
    assert!(counts.iter().all(|&count| count >= ROUND_COUNT), "{counts:?}");
    assert!(counts.iter().any(|&count| count > ROUND_COUNT), "{counts:?}");
}

#[test]
fn a_process_that_ends_on_the_way_is_an_error() {
    let mut program = Program::start(&[&WAIT, &END, &ROUND]);
    let mut walk = Walk::stop(program.process.id()).unwrap();
    drop(program.process.stdin.take());
    assert!(walk.between(program.mark, VISITS).is_err());
    program.process.wait().unwrap_err();
}
