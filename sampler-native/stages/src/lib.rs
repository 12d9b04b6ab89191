//! The cost of flametop's own stages: see `benches`, which `bench/stages` runs.
