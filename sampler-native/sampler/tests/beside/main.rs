//! The pipeline beside programs of other languages, of other control groups and namespaces, and beside hostile ones, on the real kernel:
//! run as root.

#[allow(dead_code)]
#[path = "../model/mod.rs"]
mod model;
#[path = "../served/mod.rs"]
mod served;

mod cgroups;
mod hostile;
mod interpreted;
mod managed;
mod namespaces;
mod node;
mod php;
mod python;
mod ruby;
