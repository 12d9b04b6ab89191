//! Names of functions, each once.

use std::{collections::HashMap, sync::Arc};

use serde::{Deserialize, Serialize};

/// The name of a function, and of the file that has its source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Name {
    /// As it is shown.
    pub function: Box<[u8]>,
    /// As the runtime knows it; empty: it is not told.
    pub file: Box<[u8]>,
}

impl Name {
    /// A name of a function without a source.
    pub fn of(function: &[u8]) -> Name {
        Name {
            function: function.into(),
            file: Box::default(),
        }
    }
}

/// A name: the same for all code of a function, however often it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

impl NameId {
    /// In place of a name that could not be read before what has the name was gone.
    pub const UNREAD: NameId = NameId(u32::MAX);
}

/// A function that runs, and where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name.
    pub name: NameId,
    /// The line of its source that runs; 0: it is not known.
    pub line: u16,
}

impl Function {
    /// One that was gone before its name was read.
    pub const UNREAD: Function = Function {
        name: NameId::UNREAD,
        line: 0,
    };

    /// Both in one number, below 2⁴⁸.
    pub fn number(self) -> u64 {
        u64::from(self.line) << 32 | u64::from(self.name.0)
    }

    /// Of such a number.
    pub fn of_number(number: u64) -> Function {
        Function {
            name: NameId(number as u32),
            line: (number >> 32) as u16,
        }
    }
}

/// Names of functions of all processes.
#[derive(Debug)]
pub struct Names {
    names: Vec<Option<Arc<Name>>>,
    ids: HashMap<Arc<Name>, NameId>,
    free: Vec<u32>,
    most: usize,
}

/// Most names that are held: with their texts about 10 MiB; of the longest ones, 60.
const MOST: usize = 1 << 16;

impl Default for Names {
    fn default() -> Names {
        Names {
            names: Vec::new(),
            ids: HashMap::new(),
            free: Vec::new(),
            most: MOST,
        }
    }
}

impl Names {
    /// The id of a name; none: there are too many.
    pub fn id(&mut self, name: &Name) -> Option<NameId> {
        if let Some(id) = self.ids.get(name) {
            return Some(*id);
        }
        if self.ids.len() >= self.most {
            return None;
        }
        let text = Arc::new(name.clone());
        let index = self.free.pop().unwrap_or_else(|| {
            self.names.push(None);
            self.names.len() as u32 - 1
        });
        self.names[index as usize] = Some(Arc::clone(&text));
        self.ids.insert(text, NameId(index));
        Some(NameId(index))
    }

    /// A name.
    pub fn get(&self, id: NameId) -> Option<&Name> {
        self.names.get(id.0 as usize)?.as_deref()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether it is time to [`Names::retain`] those that are needed.
    pub fn is_crowded(&self) -> bool {
        self.ids.len() >= self.most / 2
    }

    /// Forgets the others; their ids are those of other names later.
    pub fn retain(&mut self, is_needed: impl Fn(NameId) -> bool) {
        for (index, name) in (0..).zip(&mut self.names) {
            if let Some(text) = name.take_if(|_| !is_needed(NameId(index))) {
                self.ids.remove(&text);
                self.free.push(index);
            }
        }
    }
}

/// Most bytes of a name as it is shown; a file has half of them.
pub(crate) const MOST_SHOWN: usize = 512;

/// A name as it is shown: cut at a character if it is too long.
pub(crate) fn cut(shown: &str) -> Box<[u8]> {
    let most = (0..=shown.len().min(MOST_SHOWN)).rev();
    let end = most.into_iter().find(|at| shown.is_char_boundary(*at));
    shown.as_bytes()[..end.unwrap_or_default()].into()
}

/// At most half of what is shown, from the right: there the file is.
pub(crate) fn end_of(text: &str) -> &str {
    let from = text.len().saturating_sub(MOST_SHOWN / 2);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at));
    from.map_or(text, |from| &text[from..])
}

/// A file and its folder; of a long one the end.
pub(crate) fn file_and_folder(path: &str) -> &str {
    let mut slashes = path.match_indices('/').map(|(at, _)| at + 1).rev();
    let from = slashes.nth(1).unwrap_or(0);
    let file = path.get(from..).unwrap_or(path);
    let file = file.trim_start_matches('/');
    end_of(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_of_a_name_is_the_same_until_it_is_forgotten() {
        let mut names = Names {
            most: 2,
            ..Names::default()
        };
        let of = |file: &[u8]| Name {
            function: b"f"[..].into(),
            file: file.into(),
        };
        let (a, b, c) = (of(b"a"), of(b"b"), of(b"c"));
        let (of_a, of_b) = (names.id(&a), names.id(&b).expect("room"));
        assert_eq!((names.id(&a), names.id(&c)), (of_a, None));
        names.retain(|id| id == of_b);
        assert_eq!(names.get(of_a.expect("room")), None);
        assert_eq!(names.get(of_b), Some(&b));
        assert_eq!(names.id(&c), of_a, "its number is free");
    }

    #[test]
    fn number_of_a_function_has_its_name_and_its_line() {
        for (name, line) in [(0, 0), (7, 1), (u32::MAX, u16::MAX)] {
            let name = NameId(name);
            let function = Function { name, line };
            assert!(function.number() < 1 << 48);
            assert_eq!(Function::of_number(function.number()), function);
        }
    }
}
