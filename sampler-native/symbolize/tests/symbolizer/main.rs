//! The symbolizer as flametop uses it: the real helper processes, on files of real compilers. One program, since each program of tests
//! compiles the client of the prober anew.
#![allow(missing_docs)]

mod closed;
mod debuginfod;
mod helper;
mod looks;
mod names;
mod places;
mod support;
