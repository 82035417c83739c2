//! smoke
use nearcall::raw::*;
use nearcall::*;
use std::time::Instant;

const fn p(name: &'static str, class: u8, h: u8) -> ProcedureDescriptor {
    ProcedureDescriptor {
        name,
        hash: [h; 16],
        class,
        is_oneway: false,
        is_idempotent: false,
    }
}
static CALLS: InterfaceDescriptor = InterfaceDescriptor {
    name: "Calls",
    hash: [1; 16],
    procedures: &[p("null", 0, 1), p("add", 0, 2), p("echo", 1, 3)],
    classes: &[
        AStackClass {
            block_bytes: 0,
            count: 5,
        },
        AStackClass {
            block_bytes: 2048,
            count: 5,
        },
    ],
};
struct E;
impl Entries for E {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &CALLS
    }
    fn enter(&self, procedure: usize, a: Arguments<'_>) -> Outcome {
        match procedure {
            0 => a.results().reply(0),
            1 => {
                let s = a.get_u32::<0>().wrapping_add(a.get_u32::<4>());
                let mut r = a.results();
                r.put_u32::<0>(s);
                r.reply(4)
            }
            _ => {
                let n = a.get_u32::<0>();
                let b = a.variable::<8>()?.bytes(n, UNBOUNDED)?;
                if n == 13 {
                    panic!("13")
                }
                let mut r = a.results();
                r.put_u32::<0>(n);
                let mut v = r.variable::<8>(u64::from(n).next_multiple_of(8))?;
                v.put(&b);
                r.reply(8)
            }
        }
    }
}
fn null(c: &Client) -> Result<(), CallError> {
    c.claim(0)?.post(0)?;
    Ok(())
}
fn add(c: &Client, a: u32, b: u32) -> Result<u32, CallError> {
    let mut call = c.claim(1)?;
    call.put_u32::<0>(a);
    call.put_u32::<4>(b);
    Ok(call.post(8)?.get_u32::<0>())
}
fn echo(c: &Client, b: &[u8]) -> Result<Vec<u8>, CallError> {
    let mut call = c.claim(2)?;
    call.put_u32::<0>(b.len() as u32);
    call.variable::<8>((b.len() as u64).next_multiple_of(8))?
        .put(b);
    let r = call.post(8)?;
    let n = r.get_u32::<0>();
    let mut v = r.variable::<8>()?;
    v.vec(n, UNBOUNDED).map_err(|e| r.malformed(e))
}
fn domain_in(dir: &std::path::Path) -> (Domain, Clerk, Domain, Client) {
    let server = Domain::new().unwrap();
    let mut o = ExportOptions::default();
    o.scope = Some(name::Scope::Directory(dir.to_owned()));
    let clerk = Clerk::export_with(&server, "calls", E, o).unwrap();
    let client = Domain::new().unwrap();
    let mut o = ImportOptions::default();
    o.scopes = Some(vec![name::Scope::Directory(dir.to_owned())]);
    let b = Binding::import_with(&client, "calls", &CALLS, o).unwrap();
    (server, clerk, client, Client::new(b, &CALLS))
}
#[test]
fn it_calls() {
    let dir = std::env::temp_dir().join(format!("nc-{}", std::process::id()));
    let (_s, _k, _d, c) = domain_in(&dir);
    null(&c).unwrap();
    assert_eq!(add(&c, 2, 3).unwrap(), 5);
    for n in [
        0usize,
        1,
        30,
        40,
        41,
        100,
        1500,
        2040,
        2048,
        2049,
        5000,
        100_000,
        1 << 20,
        1 << 20,
    ] {
        let b: Vec<u8> = (0..n).map(|i| (i * 7) as u8).collect();
        assert_eq!(echo(&c, &b).unwrap(), b, "{n}");
    }
    println!("{:?}", echo(&c, &[0; 13]));
    for round in 0..5 {
        let n = 200_000;
        let t = Instant::now();
        for _ in 0..n {
            null(&c).unwrap();
        }
        println!("null {} ns", t.elapsed().as_nanos() / n);
        let t = Instant::now();
        for i in 0..n {
            add(&c, i as u32, 1).unwrap();
        }
        println!("add {} ns {round}", t.elapsed().as_nanos() / n);
    }
}

fn raw_1line() -> f64 {
    use std::sync::atomic::{AtomicU32, Ordering::*};
    #[repr(align(64))]
    struct L(AtomicU32);
    let l = std::sync::Arc::new(L(AtomicU32::new(0)));
    let l2 = l.clone();
    let n = 200_000u32;
    let t = std::thread::spawn(move || {
        nearcall_os::processor::pin(1).unwrap();
        for i in 0..n {
            while l2.0.load(Acquire) != 2 * i + 1 {
                std::hint::spin_loop();
            }
            l2.0.store(2 * i + 2, Release);
        }
    });
    std::thread::sleep(std::time::Duration::from_millis(20));
    let s = Instant::now();
    for i in 0..n {
        l.0.store(2 * i + 1, Release);
        while l.0.load(Acquire) != 2 * i + 2 {
            std::hint::spin_loop();
        }
    }
    let e = s.elapsed().as_nanos() as f64 / n as f64;
    t.join().unwrap();
    e
}
#[test]
fn ratio() {
    let dir = std::env::temp_dir().join(format!("ncr-{}", std::process::id()));
    nearcall_os::processor::pin(1).unwrap();
    let (_s, _k, _d, c) = domain_in(&dir);
    nearcall_os::processor::pin(0).unwrap();
    let big = [7u8; 200];
    for _ in 0..12 {
        let raw = raw_1line();
        let n = 200_000;
        let t = Instant::now();
        for _ in 0..n {
            null(&c).unwrap();
        }
        let nu = t.elapsed().as_nanos() as f64 / n as f64;
        let t = Instant::now();
        for _ in 0..n {
            add(&c, 1, 2).unwrap();
        }
        let ad = t.elapsed().as_nanos() as f64 / n as f64;
        let t = Instant::now();
        for _ in 0..n {
            echo(&c, &big).unwrap();
        }
        let ec = t.elapsed().as_nanos() as f64 / n as f64;
        println!(
            "raw {raw:.1} null {nu:.1} ({:.2}) add {:.2} echo200 {:.2}",
            nu / raw,
            ad / raw,
            ec / raw
        );
    }
}
#[test]
fn parts() {
    let dir = std::env::temp_dir().join(format!("ncp-{}", std::process::id()));
    let (_s, _k, _d, c) = domain_in(&dir);
    null(&c).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    for _ in 0..3 {
        let n = 1_000_000;
        let t = Instant::now();
        for _ in 0..n {
            std::hint::black_box(c.claim(0).unwrap());
        }
        println!(
            "claim+release {:.1}",
            t.elapsed().as_nanos() as f64 / n as f64
        );
    }
}
