//! What every command that reads interface files has in common.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use nearcall_idl::diagnostic::{Diagnostic, Rule, Severity, render};
use nearcall_idl::front::dialect::Dialect;
use nearcall_idl::front::{self, Compilation, options::Options, rules};
use nearcall_idl::model::Model;
use nearcall_idl::source::SourceMap;

use crate::failure::Failure;

/// How to read interface files.
#[derive(Args)]
pub struct Reading {
    /// Search this directory for included files
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro; without a value, as 1
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,
    /// Read MIDL, whatever a file looks like. Without it a file is MIDL if it ends in `.midl` or
    /// has attributes in brackets, proto3 if it ends in `.proto`, and OMG IDL if not
    #[arg(long)]
    midl: bool,
    /// Do not tell what is noted by this code, N0290 say; several go by commas, or by several of
    /// these. Mistakes are always told
    #[arg(long, value_name = "NOTE", value_delimiter = ',', value_parser = note)]
    allow: Vec<&'static Rule>,
}

/// One file, read.
pub struct Read {
    /// `None` if there is a mistake in it.
    pub model: Option<Model>,
    /// Everything that was found.
    pub findings: Vec<Diagnostic>,
    /// The texts that the findings are about.
    pub sources: SourceMap,
}

impl Reading {
    /// Runs the front end.
    pub fn read(&self, path: &Path) -> Read {
        self.read_by(path, &self.options())
    }

    fn read_by(&self, path: &Path, options: &Options) -> Read {
        let mut sources = SourceMap::default();
        let Compilation { model, diagnostics } = front::compile(path, options, &mut sources);
        Read { model, findings: diagnostics, sources }
    }

    /// The same, for who reads several files and shows places of all of them. Included files are
    /// searched in `first` before the directories that all have.
    pub fn read_into(
        &self,
        path: &Path,
        first: &[PathBuf],
        sources: &mut SourceMap,
    ) -> (Option<Model>, Vec<Diagnostic>) {
        let mut options = self.options();
        options.include_directories.splice(0..0, first.iter().cloned());
        let compilation = front::compile(path, &options, sources);
        (compilation.model, compilation.diagnostics)
    }

    /// Runs the front end, shows what it finds but for what only other compilers mind, and goes on
    /// only without a mistake.
    pub fn read_good(&self, path: &Path) -> Result<Model, Failure> {
        let read = self.read_by(path, &self.options().for_stubs());
        read.show();
        read.model.ok_or(Failure::Shown)
    }

    fn options(&self) -> Options {
        Options {
            include_directories: self.include.clone(),
            defines: self.define.clone(),
            dialect: self.midl.then_some(Dialect::Midl),
            allowed: self.allow.clone(),
        }
    }
}

impl Read {
    /// Shows the findings to people.
    pub fn show(&self) {
        eprint!("{}", render::texts(&self.findings, &self.sources, is_coloured()));
    }

    /// How many findings there are of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let alike = |finding: &&Diagnostic| finding.rule.severity() == severity;
        self.findings.iter().filter(alike).count()
    }
}

/// Whether findings are shown in colour.
pub fn is_coloured() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Writes to standard output. Whoever reads it may stop reading: that is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}").into())
        }
        _ => Ok(()),
    }
}

fn note(code: &str) -> Result<&'static Rule, String> {
    rules::note(code).ok_or_else(|| String::from("there is no such note"))
}

fn definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    match name {
        "" => Err("a macro needs a name".to_owned()),
        name => Ok((name.to_owned(), value.to_owned())),
    }
}
