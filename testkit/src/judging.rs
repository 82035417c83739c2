//! The server of items that may be refused, where they are put.

use std::convert::Infallible;
use std::path::Path;

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ExportError, ExportOptions, Inlet, Intake, Outlet, Taker};

use crate::judging_stubs::judging::{
    JudgingEntries, JudgingRowsException, JudgingServer, Row, Tree,
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

    fn words_turn(&self, inlet: Inlet<String>, mut outlet: Outlet<String>) {
        std::thread::spawn(move || {
            for word in inlet {
                let Ok(()) = word.and_then(|word| outlet.put(word)) else { break };
            }
        });
    }
}
