//! Names of functions, each once.

use std::{collections::HashMap, sync::Arc};

/// A name: the same for all code of a function, however often it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// Names of functions of all processes.
#[derive(Debug)]
pub struct Names {
    names: Vec<Option<Arc<[u8]>>>,
    ids: HashMap<Arc<[u8]>, NameId>,
    free: Vec<u32>,
    most: usize,
}

/// Most names that are held: with their texts about 8 MiB.
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
    pub fn id(&mut self, name: &[u8]) -> Option<NameId> {
        if let Some(id) = self.ids.get(name) {
            return Some(*id);
        }
        if self.ids.len() >= self.most {
            return None;
        }
        let text: Arc<[u8]> = name.into();
        let index = self.free.pop().unwrap_or_else(|| {
            self.names.push(None);
            self.names.len() as u32 - 1
        });
        self.names[index as usize] = Some(Arc::clone(&text));
        self.ids.insert(text, NameId(index));
        Some(NameId(index))
    }

    /// A name.
    pub fn get(&self, id: NameId) -> Option<&[u8]> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_of_a_name_is_the_same_until_it_is_forgotten() {
        let mut names = Names {
            most: 2,
            ..Names::default()
        };
        let (a, b) = (names.id(b"a"), names.id(b"b").expect("room"));
        assert_eq!((names.id(b"a"), names.id(b"c")), (a, None));
        names.retain(|id| id == b);
        assert_eq!(names.get(a.expect("room")), None);
        assert_eq!(names.get(b), Some(&b"b"[..]));
        assert_eq!(names.id(b"c"), a, "its number is free");
    }
}
