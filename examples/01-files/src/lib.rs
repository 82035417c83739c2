//! examples/01-files
