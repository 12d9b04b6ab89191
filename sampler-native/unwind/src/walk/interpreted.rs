//! The functions that an interpreter runs, in place of the interpreter's own frames.

use flametop_runtimes::{Interpreted, Order, Runs};

use super::{Level, NAMED, Walk};
use crate::{Frame, MAX_FRAMES};

/// Bytes from the beginning of the interpreter's code in which a call of the interpreter is not yet among those that run functions, or
/// says nothing true of the functions that it runs.
const BEGINNING: u64 = 128;

impl Walk<'_> {
    /// Puts the functions that an interpreter runs in place of its own frames, if all adds up. Returns whether the frames end with them,
    /// since outer ones were not copied, or are too many. `is_whole`: the walk came to the beginning of the stack.
    pub(super) fn put_interpreted(
        &mut self,
        interpreted: &Interpreted<'_>,
        is_whole: bool,
        frames: &mut Vec<Frame>,
    ) -> bool {
        let Some((attached, known)) = self.maps.attached().zip(self.known.as_deref_mut()) else {
            return false;
        };
        let Some(code) = attached.interpreter() else {
            return false;
        };
        let Some((module, start)) = self.maps.code_at(code.start) else {
            return false;
        };
        let own = start..start.saturating_add(code.end.wrapping_sub(code.start));
        let part = attached.interpreter_part();
        let has_caller = part.is_some_and(|part| part.has_caller);
        let part = part.and_then(|part| {
            let (_, offset) = self
                .maps
                .code_at(part.address)
                .filter(|(of, _)| *of == module)?;
            let found = self.modules.part(module, offset);
            found.filter(|(start, end)| end - start >= part.least)
        });
        let part = part.map_or(0..0, |(start, end)| start..end);
        let is_own = |frame: &Frame| {
            frame.module == module && (own.contains(&frame.offset) || part.contains(&frame.offset))
        };
        if self.has_trampolines || !frames.iter().any(is_own) {
            return false;
        }
        let kind = attached.kind();
        let beginning = start..start.saturating_add(BEGINNING);
        let leaf = frames.first().filter(|leaf| leaf.module == module);
        let begins = leaf.is_some_and(|leaf| beginning.contains(&leaf.offset));
        let mut runs = std::mem::take(&mut self.unwinder.runs);
        runs.functions.clear();
        runs.ends.clear();
        runs.is_cut = false;
        runs.order = Order::default();
        let levels = &self.unwinder.levels;
        let is = |level: usize| {
            let frame = &frames[levels[level].frame];
            (is_own(frame), frame.module == module)
        };
        let mut places = match attached.interpreted(known, interpreted, &self.memory, &mut runs) {
            true if runs.order != Order::Addressed => {
                let calls = (0..levels.len()).filter(|level| is(*level).0).collect();
                places_in_order(&mut runs, calls, is_whole)
            }
            true if !begins => {
                places_of(&runs.ends, levels).filter(|places| is_each_call(places, is))
            }
            _ => None,
        };
        let mut ends = false;
        if let Some(places) = &mut places
            && runs.is_cut
            && places.len() == runs.ends.len()
        {
            // The next call of the interpreter runs the rest.
            let last = places.last().map_or(0, |level| level + 1);
            let next = (last..levels.len()).find(|level| is(*level).0);
            places.extend(next);
            runs.ends.extend(next.map(|_| (0, runs.functions.len())));
            ends = next.is_some();
        }
        if let Some(places) = places.filter(|places| !places.is_empty()) {
            let into = self.modules.interpreted(kind);
            let old = std::mem::take(frames);
            let (mut run, mut copied, mut named) = (0, 0, 0);
            for index in 0..self.unwinder.levels.len() {
                let level = &mut self.unwinder.levels[index];
                let from = level.frame.max(copied);
                frames.extend_from_slice(&old[copied..from]);
                copied = from;
                level.frame = frames.len();
                if places.get(run) != Some(&index) {
                    continue;
                }
                let end = runs.ends[run].1;
                frames.extend(runs.functions[named..end].iter().map(|function| Frame {
                    module: into,
                    offset: NAMED | function.number(),
                    guessed: false,
                }));
                // A call that runs nothing yet, or any more, stays what it is.
                if end > named {
                    copied += 1;
                    let caller = old.get(copied).is_some_and(|frame| frame.module == module);
                    copied += usize::from(has_caller && caller);
                }
                named = end;
                run += 1;
                if ends && run == places.len() {
                    copied = old.len();
                    self.unwinder.levels.truncate(index + 1);
                    break;
                }
            }
            frames.extend_from_slice(&old[copied..]);
            if frames.len() > MAX_FRAMES {
                self.unwinder.cut(frames, MAX_FRAMES);
                ends = true;
            }
        }
        self.unwinder.runs = runs;
        ends
    }
}

/// Whether each call of the interpreter from the first to the last of these places is among them, and each place is its code; before the
/// first one there may be one call that runs nothing yet. `is`: whether there is such a call at a level, and whether that can be.
fn is_each_call(places: &[usize], is: impl Fn(usize) -> (bool, bool)) -> bool {
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        return true;
    };
    let before = (0..*first).filter(|level| is(*level).0).count();
    let within = (*first..=*last).filter(|level| is(*level).0);
    before <= 1
        && within.into_iter().all(|level| places.contains(&level))
        && places.iter().all(|level| is(*level).1)
}

/// The levels of the stack at which these runs are: of the innermost ones, as far as the walk came. None: they are not where they say.
fn places_of(runs: &[(u64, usize)], levels: &[Level]) -> Option<Vec<usize>> {
    let outermost = levels.last()?.sp;
    let mut places: Vec<usize> = Vec::new();
    for (at, _) in runs.iter().take_while(|(at, _)| *at < outermost) {
        let from = places.last().map_or(0, |level| level + 1);
        let frames = levels.get(from..)?.windows(2);
        let mut frames = frames.map(|pair| pair[0].sp..pair[1].sp);
        places.push(from + frames.position(|frame| frame.contains(at))?);
    }
    Some(places)
}

/// The levels of runs that have no addresses, by the levels of the calls of the interpreter. `is_whole`: these are all calls of the stack.
/// The innermost call may run nothing yet, or any more, and the innermost run may have no call yet, which is left out then.
fn places_in_order(runs: &mut Runs, calls: Vec<usize>, is_whole: bool) -> Option<Vec<usize>> {
    let (told, called) = (runs.ends.len(), calls.len());
    if !is_whole || runs.order == Order::Inner {
        return Some(calls.into_iter().take(told).collect());
    }
    if told == called {
        return Some(calls);
    }
    if told + 1 == called {
        return Some(calls[1..].to_vec());
    }
    if told != called + 1 {
        return None;
    }
    let (_, first) = runs.ends.remove(0);
    runs.functions.drain(..first);
    for (_, end) in &mut runs.ends {
        *end -= first;
    }
    Some(calls)
}

#[cfg(test)]
mod tests {
    use flametop_runtimes::{Function, NameId, RuntimeKind};

    use super::*;

    fn levels(sps: &[u64]) -> Vec<Level> {
        let levels = sps.iter().enumerate();
        levels.map(|(frame, sp)| Level { frame, sp: *sp }).collect()
    }

    #[test]
    fn places_are_the_frames_that_hold_what_calls_have_on_the_stack() {
        let levels = levels(&[100, 200, 200, 300, 400]);
        let places = |at: &[u64]| {
            let runs: Vec<(u64, usize)> = at.iter().map(|at| (*at, 1)).collect();
            places_of(&runs, &levels)
        };
        assert_eq!(places(&[150, 350]), Some(vec![0, 3]));
        assert_eq!(places(&[200, 399]), Some(vec![2, 3]));
        assert_eq!(
            places(&[150, 400]),
            Some(vec![0]),
            "the walk did not come so far"
        );
        assert_eq!(places(&[250, 150]), None, "not in the order of the stack");
        assert_eq!(places(&[250, 260]), None, "two in one frame");
        assert_eq!(places(&[50]), None, "below the stack");
        assert_eq!(places(&[]), Some(Vec::new()));
        assert_eq!(places_of(&[(1, 1)], &[]), None);
    }

    #[test]
    fn places_in_order_begin_at_the_root_or_where_that_is_not_known_at_the_leaf() {
        let function = |name| Function {
            name: NameId(name),
            line: 0,
        };
        let of = |order, told: usize| Runs {
            functions: (0..told as u32).map(function).collect(),
            ends: (1..=told).map(|end| (0, end)).collect(),
            is_cut: false,
            order,
        };
        let places = |order, told, is_whole| {
            let mut runs = of(order, told);
            let places = places_in_order(&mut runs, vec![2, 5, 9], is_whole);
            (places, runs)
        };
        let whole = places(Order::Whole, 3, true);
        assert_eq!(whole, (Some(vec![2, 5, 9]), of(Order::Whole, 3)));
        let ended = places(Order::Whole, 2, true);
        assert_eq!(ended, (Some(vec![5, 9]), of(Order::Whole, 2)));
        let (begun, runs) = places(Order::Whole, 4, true);
        assert_eq!(begun, Some(vec![2, 5, 9]));
        assert_eq!(runs.functions, [1, 2, 3].map(function));
        assert_eq!(runs.ends, [(0, 1), (0, 2), (0, 3)]);
        assert_eq!(places(Order::Whole, 1, true).0, None);
        assert_eq!(places(Order::Whole, 5, true).0, None);
        assert_eq!(places(Order::Whole, 5, false).0, Some(vec![2, 5, 9]));
        assert_eq!(places(Order::Inner, 2, true).0, Some(vec![2, 5]));
    }

    #[test]
    fn cut_frames_leave_no_level_behind_them() {
        let frame = Frame {
            module: crate::Modules::new(8).interpreted(RuntimeKind::Python),
            offset: 0,
            guessed: false,
        };
        let mut frames = vec![frame; 5];
        let mut unwinder = crate::Unwinder::new();
        unwinder.levels = levels(&[100, 200, 300, 400, 500]);
        unwinder.cut(&mut frames, 2);
        let left = unwinder.levels.iter().map(|level| level.frame);
        assert_eq!((frames.len(), left.collect()), (2, vec![0, 1]));
        assert_eq!(
            (unwinder.frame_at(150), unwinder.frame_at(350)),
            (Some(0), None)
        );
    }

    #[test]
    fn each_call_must_be_named_but_one_that_runs_nothing_yet() {
        // Calls of the interpreter at 1, 3 and 5; other code of its file at 2.
        let is = |level: usize| (level % 2 == 1, level != 4);
        assert!(is_each_call(&[1, 3, 5], is) && is_each_call(&[3, 5], is));
        assert!(
            is_each_call(&[2, 3], is),
            "a part that the compiler put elsewhere"
        );
        assert!(is_each_call(&[1, 3], is), "the outer ones are not known");
        assert!(!is_each_call(&[1, 5], is), "one between is missing");
        assert!(!is_each_call(&[5], is), "two of the innermost are missing");
        assert!(!is_each_call(&[1, 3, 4], is), "code of another file");
        assert!(is_each_call(&[], is));
    }
}
