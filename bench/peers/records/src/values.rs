//! The records: as other formats see them, as ours does, and what stands in them. Of the shapes of
//! rust_serialization_benchmark; the values are the same in every run.

use rkyv::{Archive, Deserialize, Serialize};
use wincode::{SchemaRead, SchemaWrite};

use crate::stubs::records as ours;

/// Entries of the log.
const ENTRIES: usize = 10_000;

/// Triangles of the mesh.
const TRIANGLES: usize = 125_000;

/// A type as the other formats declare it.
macro_rules! record {
    ($($name:ident { $($field:ident: $type:ty),* })*) => {$(
        #[derive(Archive, Serialize, Deserialize, SchemaRead, SchemaWrite)]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(pub $field: $type,)*
        }
    )*};
}

record! {
    Source { x0: u8, x1: u8, x2: u8, x3: u8 }
    Entry {
        source: Source,
        identity: String,
        userid: String,
        date: String,
        request: String,
        code: u16,
        size: u64
    }
    Vertex { x: f32, y: f32, z: f32 }
    Triangle { v0: Vertex, v1: Vertex, v2: Vertex, normal: Vertex }
}

/// Numbers that look like chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        // A linear congruential generator (Knuth's MMIX).
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn one_of<'o>(&mut self, all: &[&'o str]) -> &'o str {
        all[self.below(all.len() as u64) as usize]
    }

    fn vertex(&mut self) -> Vertex {
        let mut next = || self.below(1 << 24) as f32 / (1 << 24) as f32;
        Vertex { x: next(), y: next(), z: next() }
    }

    fn entry(&mut self) -> Entry {
        let source = [0; 4].map(|_: u8| self.below(256) as u8);
        let date = format!(
            "{}/{}/{}:{}:{}:{} {}",
            1 + self.below(28),
            self.one_of(&["Jan", "Mar", "Jun", "Jul", "Oct", "Dec"]),
            1970 + self.below(52),
            self.below(24),
            self.below(60),
            self.below(60),
            self.one_of(&["-0800", "-0500", "+0000", "+0100", "+0900"]),
        );
        let request = format!(
            "{} {} {}",
            self.one_of(&["GET", "POST", "PUT", "UPDATE", "DELETE"]),
            self.one_of(&["/favicon.ico", "/css/index.css", "/img/logo-full.svg", "/api/login"]),
            self.one_of(&["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"]),
        );
        Entry {
            source: Source { x0: source[0], x1: source[1], x2: source[2], x3: source[3] },
            identity: "-".into(),
            userid: self.one_of(&["-", "alice", "bob", "carmen", "david", "george"]).into(),
            date,
            request,
            code: 100 + self.below(411) as u16,
            size: self.below(100_000_000),
        }
    }
}

pub fn log() -> Vec<Entry> {
    let mut chance = Chance(1);
    (0..ENTRIES).map(|_| chance.entry()).collect()
}

pub fn mesh() -> Vec<Triangle> {
    let mut chance = Chance(2);
    let mut triangle = |_| Triangle {
        v0: chance.vertex(),
        v1: chance.vertex(),
        v2: chance.vertex(),
        normal: chance.vertex(),
    };
    (0..TRIANGLES).map(&mut triangle).collect()
}

impl From<&Entry> for ours::Entry {
    fn from(entry: &Entry) -> ours::Entry {
        let Source { x0, x1, x2, x3 } = entry.source;
        ours::Entry {
            source: ours::Source { x0, x1, x2, x3 },
            identity: entry.identity.clone(),
            userid: entry.userid.clone(),
            date: entry.date.clone(),
            request: entry.request.clone(),
            code: entry.code,
            size: entry.size,
        }
    }
}

impl From<&Triangle> for ours::Triangle {
    fn from(triangle: &Triangle) -> ours::Triangle {
        let vertex = |vertex: &Vertex| ours::Vertex { x: vertex.x, y: vertex.y, z: vertex.z };
        ours::Triangle {
            v0: vertex(&triangle.v0),
            v1: vertex(&triangle.v1),
            v2: vertex(&triangle.v2),
            normal: vertex(&triangle.normal),
        }
    }
}
