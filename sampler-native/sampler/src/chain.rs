//! From a chain as a runtime tells it to one as the kernel side takes it.

use flametop_kernel::{Array, Chain};

/// The chain of a thread, by the thread's number and the image of its process.
pub fn chain_of(tid: u32, image: u32, chain: flametop_runtimes::Chain) -> Chain {
    Chain {
        tid,
        image,
        thread: chain.thread,
        lock: chain.lock,
        identity: chain.identity,
        first: chain.first,
        through: chain.through,
        next: chain.next,
        object: chain.object,
        tags: chain.tags,
        flags: chain.flags,
        place: chain.place,
        names: chain.names,
        array: chain.array.map(|array| Array {
            stride: array.stride,
            environment: array.environment,
        }),
    }
}
