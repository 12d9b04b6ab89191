// Something for rustc to do.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table<K: Ord, V> {
    of: BTreeMap<K, Vec<V>>,
    names: HashMap<String, (u64, Option<String>)>,
}

macro_rules! tables {
    ($($name:ident $key:ty, $value:ty;)*) => {$(
        pub fn $name(rows: &[($key, $value)]) -> (Table<$key, $value>, String) {
            let mut table = Table::<$key, $value>::default();
            for (key, value) in rows {
                table.of.entry(*key).or_default().push(value.clone());
                table.names.insert(format!("{key:?} {value:?}"), (1, None));
            }
            let mut told: Vec<String> = table.names.keys().cloned().collect();
            told.sort_by(|a, b| b.cmp(a));
            (table, told.join(","))
        }
    )*};
}

tables! {
    a u8, String; b u16, Vec<u8>; c u32, Option<i64>; d u64, Box<str>; e i8, String; f i16, Vec<i32>; g i32, u128;
    h i64, (u8, String); i char, String; j bool, Vec<String>; k usize, [u8; 16]; l isize, Option<String>;
    m (u8, u8), String; n (u16, char), Vec<u64>; o [u8; 4], String; p Option<u8>, Vec<bool>;
}

pub fn all<T: Debug + Ord + Copy>(of: &[T]) -> Vec<String> {
    let mut of = of.to_vec();
    of.sort();
    of.iter().map(|x| format!("{x:#?}")).collect()
}
