//! `Piece`: what reads a message of a `.proto` file, which may be of another version.

use nearcall::raw::{Marshal, Reader, Writer};

use crate::pieces::pieces::piece::What;
use crate::pieces::pieces::{Kind, Piece, Point};

/// What a piece ends with, behind its length.
const REST: [u8; 3] = [1, 2, 3];

/// Reads a piece, also over each of those of earlier calls, as servers do; one that is read is
/// written again as what it was read as.
pub fn feed(bytes: &[u8]) {
    let piece = Piece::unmarshal(&mut Reader::new(bytes));
    for mut over in earlier() {
        let read = over.unmarshal_over(&mut Reader::new(bytes));
        assert_eq!(read.map(|()| over), piece);
    }
    let Ok(piece) = piece else {
        return;
    };
    let again = Piece::unmarshal(&mut Reader::new(&written(&piece)));
    assert_eq!(again, Ok(piece));
}

/// What is fed first: pieces of this version, and of one that had no last field yet.
pub fn seeds() -> Vec<Vec<u8>> {
    let whole: Vec<_> = earlier().iter().map(written).collect();
    let older: Vec<_> = whole.iter().map(|piece| without_rest(piece)).collect();
    [whole, older].concat()
}

/// The members but for the last one, behind how many bytes they are.
fn without_rest(piece: &[u8]) -> Vec<u8> {
    let members = &piece[4..piece.len() - 4 - REST.len()];
    [&(members.len() as u32).to_le_bytes(), members].concat()
}

/// One of each case, and one that has others below it.
fn earlier() -> Vec<Piece> {
    let mut all: Vec<_> = cases().into_iter().map(piece).collect();
    let below = all.clone();
    let marks = [("here".to_owned(), point())].into();
    all.push(Piece { below, marks, ..piece(What::default()) });
    all
}

fn cases() -> [What; 4] {
    [What::default(), What::Text("grün".to_owned()), What::Point(point()), What::Number(-7)]
}

fn point() -> Point {
    Point { x: -3, y: Some(4) }
}

fn piece(what: What) -> Piece {
    let name = "a piece".to_owned();
    Piece { name, what, kind: Kind::KindLeaf, rest: REST.to_vec(), ..Piece::default() }
}

fn written(piece: &Piece) -> Vec<u8> {
    let mut writer = Writer::new();
    piece.marshal(&mut writer);
    writer.finish("piece").expect("a piece that was read, or is small").to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_an_older_version_has_an_empty_rest() {
        let read = |bytes: Vec<u8>| Piece::unmarshal(&mut Reader::new(&bytes));
        let older: Vec<_> = earlier().iter().map(|piece| without_rest(&written(piece))).collect();
        assert_eq!(older.len(), 5);
        for (older, piece) in older.into_iter().zip(earlier()) {
            assert_eq!(read(older), Ok(Piece { rest: Vec::new(), ..piece }));
        }
    }
}
