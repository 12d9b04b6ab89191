//! Sources of events: how a user asks for one ([`Spec`]), and which ones this machine has ([`list`]).
//!
//! Nothing here attaches anything, and nothing here reads a file that somebody else made.

#![forbid(unsafe_code)]

pub mod functions;
pub mod list;
pub mod near;
mod pattern;
mod spec;
mod tracefs;

pub use pattern::Pattern;
pub use spec::{Counter, Place, Source, Spec, SpecError, Unit, Weight};
pub use tracefs::{EventFormat, Field, Tracefs};
