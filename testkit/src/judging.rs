//! The server of items that may be refused, where they are put.

use std::convert::Infallible;
use std::path::Path;

use nearcall::name::Scope;
use nearcall::{
    Clerk, Domain, ExportError, ExportOptions, Inlet, Intake, Items, NotPut, Outlet, Taker,
};

use crate::judging_stubs::judging::{
    JudgingDigitsTurnException, JudgingEntries, JudgingRowsComeException, JudgingRowsException,
    JudgingServer, Row, Tree,
};

/// Serves `Judging`.
#[derive(Debug)]
pub struct Judge;

/// The name that a server exports `Judging` under, beside `Faults` under `name`.
pub fn name_of(name: &str) -> String {
    format!("{name}-judging")
}

/// Exports a judge beside what is exported under `name`, in the scope of `directory`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, &name_of(name), JudgingEntries::new(Judge), options)
}

/// Makes one text of all items.
struct Joined<T, E> {
    text: String,
    said: fn(&T) -> String,
    raised: std::marker::PhantomData<fn() -> E>,
}

impl<T, E> Joined<T, E> {
    fn new(said: fn(&T) -> String) -> Box<Joined<T, E>> {
        Box::new(Joined { text: String::new(), said, raised: std::marker::PhantomData })
    }
}

impl<T, E> Intake for Joined<T, E> {
    type Item = T;
    type Output = String;
    type Error = E;

    fn take(&mut self, item: T) -> Result<(), E> {
        self.text.push_str(&(self.said)(&item));
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<String, E> {
        Ok(self.text)
    }
}

struct Count(u32);

impl Intake for Count {
    type Item = Tree;
    type Output = u32;
    type Error = Infallible;

    fn take(&mut self, _item: Tree) -> Result<(), Infallible> {
        self.0 += 1;
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<u32, Infallible> {
        Ok(self.0)
    }
}

impl JudgingServer for Judge {
    fn rows(&self) -> Result<Taker<Row, String, JudgingRowsException>, JudgingRowsException> {
        Ok(Joined::new(|row: &Row| format!("{}{}", row.key, row.name)))
    }

    fn digits(&self) -> Taker<i32, String> {
        Joined::new(i32::to_string)
    }

    fn words(&self) -> Taker<String, String> {
        Joined::new(String::clone)
    }

    fn trees(&self) -> Taker<Tree, u32> {
        Box::new(Count(0))
    }

    fn rows_come(
        &self,
        good: u32,
    ) -> Result<Items<Result<Row, JudgingRowsComeException>>, JudgingRowsComeException> {
        let name = move |key| if key == good { "fiver" } else { "four" };
        Ok(made(good, move |key| Ok(Row { key, name: name(key).to_owned() })))
    }

    fn digits_come(&self, good: u32) -> Items<i32> {
        made(good, move |at| if at == good { 10 } else { (at % 9 + 1) as i32 })
    }

    fn trees_come(&self, good: u32) -> Items<Tree> {
        made(good, move |at| nested(if at == good { DEPTH_MAX - 1 } else { DEPTH_MAX - 2 }))
    }

    fn words_turn(&self, inlet: Inlet<String>, outlet: Outlet<String>) {
        std::thread::spawn(move || {
            turn(
                inlet,
                outlet,
                String::from("fiver"),
                "item has 5 bytes or elements, its limit is 4",
            )
        });
    }

    fn digits_turn(
        &self,
        inlet: Inlet<i32>,
        outlet: Outlet<i32, JudgingDigitsTurnException>,
    ) -> Result<(), JudgingDigitsTurnException> {
        std::thread::spawn(move || turn(inlet, outlet, 10, "item is 10, allowed is 1 to 9"));
        Ok(())
    }
}

/// Deepest that a value may be nested: a batch is a level itself.
pub const DEPTH_MAX: usize = 64;

/// So deep.
pub fn nested(depth: usize) -> Tree {
    (0..depth).fold(Tree::default(), |tree, _| Tree { branches: vec![tree] })
}

/// What a feed has that goes on behind the item that is refused.
fn made<T>(good: u32, item: impl Fn(u32) -> T + Send + 'static) -> Items<T> {
    Box::new((0..good + 2).map(item))
}

/// Gives back what comes. Whoever reads it is told of a panic if `refused` was not refused so.
fn turn<T: Clone, E>(
    inlet: Inlet<T>,
    mut outlet: Outlet<T, E>,
    refused: T,
    why: &str,
) -> Result<(), NotPut> {
    for item in inlet {
        let not_put = outlet.put(refused.clone()).expect_err("it is none of its type");
        assert!(matches!(not_put, NotPut::Refused(_)));
        assert_eq!(not_put.to_string(), why);
        outlet.put(item?)?;
    }
    outlet.end();
    Ok(())
}
