//! Chains: the frames that an interpreter keeps outside of the stack, as the kernel side copies them.

use std::mem::offset_of;

use crate::{abi, skeletons::layout};

/// How the kernel side gets along the chain of one thread, or of each thread of an image; see `struct ft_chain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The thread, as [`crate::record::Head::tid`], or [`Chain::OF_IMAGE`].
    pub tid: u32,
    /// The image of its process, as [`crate::record::Head::image`].
    pub image: u32,
    /// Address of what the interpreter knows of the thread; of an image the offset from the thread pointer to a word that has this address.
    pub thread: u64,
    /// Address of two words that passes copy too: who holds the interpreter's lock, and whether it is held; 0: of none.
    pub lock: u64,
    /// Offset there of a word that is copied as it is.
    pub identity: u16,
    /// Offset there of the pointer to the first node …
    pub first: u16,
    /// … or to what has the pointer to the first node at this offset.
    pub through: Option<u16>,
    /// Offset in a node of the pointer to the next one.
    pub next: u16,
    /// Offset in a node of the pointer to the object that it runs.
    pub object: u16,
    /// Bits of that pointer that are no part of the address.
    pub tags: u16,
    /// Offset in a node of a word that is copied as it is.
    pub flags: u16,
    /// Offset in a node of another such word: where the object's code runs.
    pub place: u16,
    /// Offsets in an object of words that are copied as they are.
    pub names: [u16; 2],
    /// The nodes are an array of Ruby's.
    pub array: Option<Array>,
}

/// An array of nodes, as Ruby has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Bytes of a node.
    pub stride: u16,
    /// Offset in a node of the pointer to its environment, whose first word stands for the flags.
    pub environment: u16,
}

const KEY: usize = size_of::<layout::ft_chain_key>();
const HOW: usize = size_of::<layout::ft_chain>();
const _: () = {
    assert!(KEY == 8 && offset_of!(layout::ft_chain_key, image) == 4);
    assert!(HOW == 48 && offset_of!(layout::ft_chain, identity) == 16);
    assert!(offset_of!(layout::ft_chain, through) == 20);
    assert!(offset_of!(layout::ft_chain, object) == 24);
    assert!(offset_of!(layout::ft_chain, place) == 30);
    assert!(offset_of!(layout::ft_chain, names) == 32);
    assert!(offset_of!(layout::ft_chain, node_from) == 36);
    assert!(offset_of!(layout::ft_chain, stride) == 44);
    assert!(size_of::<layout::ft_chain_head>() == 48);
    assert!(size_of::<layout::ft_chain_node>() == 48);
};

impl Chain {
    /// In place of a thread: all threads of the image that have no chain of their own.
    pub const OF_IMAGE: u32 = abi::FT_CHAIN_OF_IMAGE;

    /// Key and value of the map of chains.
    pub(crate) fn bytes(&self) -> ([u8; KEY], [u8; HOW]) {
        let mut key = [0; KEY];
        key[..4].copy_from_slice(&self.tid.to_ne_bytes());
        key[4..].copy_from_slice(&self.image.to_ne_bytes());
        let mut how = [0; HOW];
        how[..8].copy_from_slice(&self.thread.to_ne_bytes());
        how[8..16].copy_from_slice(&self.lock.to_ne_bytes());
        let words = [self.object, self.place];
        let (node, object) = match self.array {
            Some(array) => (
                span(words.into_iter().chain([array.environment])),
                span([self.names[0]]),
            ),
            None => (
                span(words.into_iter().chain([self.flags, self.next])),
                span(self.names),
            ),
        };
        let (stride, environment) = self.array.map_or((0, 0), |a| (a.stride, a.environment));
        let offsets = [
            self.identity,
            self.first,
            self.through.unwrap_or(abi::FT_CHAIN_DIRECT as u16),
            self.next,
            self.object,
            self.tags,
            self.flags,
            self.place,
            self.names[0],
            self.names[1],
            node.0,
            node.1,
            object.0,
            object.1,
            stride,
            environment,
        ];
        for (place, offset) in how[16..].chunks_exact_mut(2).zip(offsets) {
            place.copy_from_slice(&offset.to_ne_bytes());
        }
        (key, how)
    }
}

/// From the first of these words to the end of the last one: the offset, and bytes.
fn span(words: impl IntoIterator<Item = u16> + Clone) -> (u16, u16) {
    let from = words.clone().into_iter().min().unwrap_or_default();
    let last = words.into_iter().max().unwrap_or_default();
    (from, (last - from).saturating_add(8))
}
