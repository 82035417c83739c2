//! The server of brief.idl.

use std::time::Duration;

use nearcall::Char;
use stubs_c_tests::short::brief::*;

/// Its procedures say what came by what they return.
pub struct Tester;

impl BriefServer for Tester {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn mix(
        &self,
        color: Color,
        yes: bool,
        letter: Char,
        ratio: f64,
        small: &mut u8,
    ) -> (Color, u64) {
        assert_eq!(color, Color::Blue);
        *small = small.wrapping_add(u8::from(yes));
        (Color::Green, (((ratio * 2.0) as u64) << 32) + u64::from(letter.0))
    }

    fn r#move(&self, point: &Point) -> Point {
        Point { x: point.x, y: point.y / 2.0 }
    }

    fn write(&self, handle: i32, pos: &mut i32, len: i32, data: &[i32]) -> i32 {
        assert_eq!((handle, len as usize), (7, data.len()));
        *pos = pos.wrapping_add(len);
        data.iter().fold(0, |sum, one| sum.wrapping_add(*one))
    }

    fn turn(&self, tile: &Tile, other: &mut Tile) -> Tile {
        other.reverse();
        let mut turned = *tile;
        turned.reverse();
        turned
    }

    fn few(&self, octets: &[u8]) -> u32 {
        octets.iter().map(|octet| u32::from(*octet)).sum()
    }

    fn some(&self, given: &[i16]) -> (i32, i16) {
        let sum = given.iter().map(|one| i32::from(*one)).sum();
        (sum, given.first().copied().unwrap_or_default())
    }

    fn spell(&self, seed: u32, word: &str) -> u32 {
        word.bytes().fold(seed, |sum, byte| sum + u32::from(byte))
    }

    fn spell_short(&self, word: &str) -> u32 {
        self.spell(0, word)
    }

    fn count(&self, many: u32) -> Result<(Vec<i32>, String), BriefCountException> {
        match many {
            0..=1000 => Ok(((0..many as i32).collect(), format!("to {many}"))),
            _ => Err(Refused { why: "too many".into(), code: many as i32 }.into()),
        }
    }

    fn half(&self, number: &mut i32) -> Result<i32, BriefHalfException> {
        let half = *number / 2;
        *number %= 2;
        match *number {
            0 => Ok(half),
            odd => Err(Refused { why: "odd".into(), code: odd }.into()),
        }
    }

    fn wash(&self, seed: u32, sheet: &mut Sheet) -> u8 {
        let last = sheet[sheet.len() - 1];
        sheet.iter_mut().for_each(|octet| *octet = octet.wrapping_add(seed as u8));
        last
    }

    fn shift(&self, page: &Page, first: u8) -> (Page, u8) {
        let (mut shifted, end) = (*page, page.len() - 1);
        shifted.copy_within(..end, 1);
        shifted[0] = first;
        (shifted, page[end])
    }

    fn pay(&self, page: &Page, data: &[i32]) -> i32 {
        let sum = page.iter().fold(0, |sum, octet| sum + i32::from(*octet));
        data.iter().fold(sum, |sum, one| sum.wrapping_add(*one))
    }

    fn spread(
        &self,
        a: f64,
        b: f64,
        c: f64,
        d: f64,
        e: f64,
        f: f64,
        g: f64,
        color: Color,
    ) -> (Color, f64, f64, f64, f64, f64, f64, f64) {
        (color, a + 1.0, b + 1.0, c + 1.0, d + 1.0, e + 1.0, f + 1.0, g + 1.0)
    }

    fn nap(&self, ms: u32) {
        std::thread::sleep(Duration::from_millis(ms.into()));
    }

    fn end(&self) {
        std::process::exit(0);
    }
}
