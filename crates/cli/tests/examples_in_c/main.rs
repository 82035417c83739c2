//! Examples in C and C++ as their READMEs have them: the library and the compiler are installed,
//! the programs are made against what is installed, and print what the README says that they print.

mod notes;
mod place;
mod plugin_host;
