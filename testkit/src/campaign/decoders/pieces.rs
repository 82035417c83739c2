//! `Piece`: what reads a message of a `.proto` file, which may be of another version.

use nearcall::raw::{Marshal, Reader, Writer};

use crate::pieces::pieces::piece::What;
use crate::pieces::pieces::{Kind, Piece, Point};

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

/// What is fed first.
pub fn seeds() -> Vec<Vec<u8>> {
    earlier().iter().map(written).collect()
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
    Piece { name, what, kind: Kind::KindLeaf, rest: vec![1, 2, 3], ..Piece::default() }
}

fn written(piece: &Piece) -> Vec<u8> {
    let mut writer = Writer::new();
    piece.marshal(&mut writer);
    writer.finish("piece").expect("a piece that was read, or is small").to_vec()
}
