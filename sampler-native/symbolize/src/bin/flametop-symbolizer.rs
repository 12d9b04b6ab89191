//! The helper process of `flametop-symbolize`.

fn main() {}
