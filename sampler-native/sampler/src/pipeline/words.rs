//! Frames that are words of ours.

use flametop_unwind::{Frame, Modules};

/// A frame that is this word.
pub fn word(modules: &mut Modules, text: &[u8]) -> Frame {
    Frame {
        module: modules.word(text),
        offset: 0,
        guessed: false,
    }
}
