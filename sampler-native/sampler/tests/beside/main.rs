//! The pipeline beside programs of other languages, of other control groups and namespaces, on the real kernel: run as
//! root.

#[allow(dead_code)]
#[path = "../model/mod.rs"]
mod model;
#[allow(dead_code)]
#[path = "../program/mod.rs"]
mod program;

mod cgroups;
mod interpreted;
mod managed;
mod namespaces;
mod node;
mod php;
mod python;
mod ruby;
