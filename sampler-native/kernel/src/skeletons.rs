//! The BPF objects, as libbpf-cargo generates them.

#[allow(warnings, clippy::all, clippy::undocumented_unsafe_blocks)]
mod generated {
    pub mod task_stacks {
        include!(concat!(env!("OUT_DIR"), "/task_stacks.rs"));
    }
    pub mod cpu_stacks {
        include!(concat!(env!("OUT_DIR"), "/cpu_stacks.rs"));
    }
    pub mod events {
        include!(concat!(env!("OUT_DIR"), "/events.rs"));
    }
    pub mod task_life {
        include!(concat!(env!("OUT_DIR"), "/task_life.rs"));
    }
    pub mod cpu_idle {
        include!(concat!(env!("OUT_DIR"), "/cpu_idle.rs"));
    }
    pub mod cpu_frequency {
        include!(concat!(env!("OUT_DIR"), "/cpu_frequency.rs"));
    }
    pub mod pid_level {
        include!(concat!(env!("OUT_DIR"), "/pid_level.rs"));
    }
}

pub use generated::{
    cpu_frequency::*, cpu_idle::*, cpu_stacks::*, events::*, pid_level::*, task_life::*,
    task_stacks::*,
};

/// What clang made of the structures of `flametop.h`.
pub mod layout {
    pub use super::generated::{
        cpu_frequency::types::ft_frequency,
        cpu_idle::types::ft_idle,
        cpu_stacks::types::bss as clock_counts,
        events::types::{
            ft_event, ft_event_control, ft_event_counts, ft_predicate, ft_waker,
            rodata as event_constants,
        },
        task_stacks::types::{
            counts, ft_chain, ft_chain_head, ft_chain_key, ft_chain_node, ft_head, ft_stack,
        },
    };
}
