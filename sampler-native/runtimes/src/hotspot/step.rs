//! From a frame to its caller.
//!
//! A compiled method has a frame of a known size, but at its beginning and its end, and where it keeps a few more words. So each return
//! address is believed only if a call of known code returns there, or the interpreter's or the call stub's. What is found nowhere is
//! [`Step::Unsure`].

use super::{HotSpot, layout::Layout, lines};
use crate::{
    Called, Caller, Function, Kind, Known, NameId, Place, Stack, Step, UNKNOWN,
    known::{KnownMethod, Looked, Piece},
    register::{R13, RBP, RBX, RIP, RSP},
};

/// Words that a compiled method may have more on the stack than its frame is large.
const MORE_WORDS: u64 = 6;
/// Words of the stack that a helper without a known frame may use.
const STUB_WORDS: u64 = 160;
/// Most bytes of an interpreter's frame.
const MAX_FRAME: u64 = 1 << 20;
/// Bytes of an interpreter's frame while its caller's stack pointer is still in a register.
const BEGUN: u64 = 32;
const RAX: usize = 0;

/// Whether a word is a return address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    Yes,
    No,
    /// That is lacking.
    Perhaps,
}

/// Where the caller's frame pointer is.
#[derive(Clone, Copy)]
enum Rbp {
    Register,
    At(u64),
}

struct Walk<'a> {
    hotspot: &'a HotSpot,
    layout: &'a Layout,
    known: &'a mut Known,
    at: &'a Place,
    stack: &'a dyn Stack,
    called: &'a mut Called,
}

pub fn step(
    hotspot: &HotSpot,
    layout: &Layout,
    known: &mut Known,
    at: &Place,
    stack: &dyn Stack,
    called: &mut Called,
) -> Step {
    let mut walk = Walk {
        hotspot,
        layout,
        known,
        at,
        stack,
        called,
    };
    let pc = at.registers[RIP].wrapping_sub(u64::from(at.is_return));
    if hotspot.interpreter.contains(&pc) {
        return walk.leave_interpreted();
    }
    if !layout.has_code(pc) {
        return Step::Foreign;
    }
    let piece = match walk.known.code(pc) {
        Looked::There(piece) => piece,
        Looked::Nothing => return Step::Unsure,
        Looked::Lacking => return Step::Lacking,
    };
    match piece.code.kind {
        Kind::Compiled | Kind::Native | Kind::Stub => {
            let step = match piece.code.kind {
                Kind::Stub => walk.leave_stub(&piece),
                _ => walk.leave_compiled(&piece),
            };
            match step {
                Step::Unsure if walk.known.doubt(pc) => Step::Lacking,
                step => step,
            }
        }
        Kind::Frameless => {
            walk.put(piece.names[0], 0);
            walk.first([(walk.sp(), Rbp::Register)])
        }
        // A virtual thread's frames that do not run lie in the heap.
        Kind::Elsewhere => {
            walk.put(piece.names[0], 0);
            Step::Elsewhere
        }
        // A part of it that is no method's.
        Kind::Interpreter => {
            walk.put(piece.names[0], 0);
            Step::Unsure
        }
    }
}

impl Walk<'_> {
    fn sp(&self) -> u64 {
        self.at.registers[RSP]
    }

    /// Adds a function of the frame, if its name is held.
    fn put(&mut self, name: Option<NameId>, line: u16) {
        let function = name.map(|name| Function { name, line });
        self.called.functions.extend(function);
    }

    /// Whether a call may return to an address.
    fn site(&mut self, address: u64) -> Site {
        if address == self.hotspot.call_stub
            || self.hotspot.interpreter.contains(&address)
            || Some(address) == self.layout.continued
        {
            return Site::Yes;
        }
        if !self.layout.has_code(address) {
            return Site::No;
        }
        let piece = match self.known.code(address.wrapping_sub(1)) {
            Looked::There(piece) => piece,
            Looked::Nothing => return Site::No,
            Looked::Lacking => return Site::Perhaps,
        };
        let code = &piece.code;
        let is_site = match code.kind {
            Kind::Compiled | Kind::Native => {
                address == code.deopt || scope(&piece, address).is_some()
            }
            Kind::Elsewhere => true,
            Kind::Interpreter | Kind::Stub | Kind::Frameless => false,
        };
        match is_site {
            true => Site::Yes,
            false => Site::No,
        }
    }

    /// The caller, if its return address lies at the first of these places at which one lies.
    fn first(&mut self, places: impl IntoIterator<Item = (u64, Rbp)>) -> Step {
        let mut lacking = false;
        let mut doubtful = None;
        for (index, (top, rbp)) in places.into_iter().enumerate() {
            let Some(pc) = self.stack.word(top) else {
                return Step::Missing(top);
            };
            let rbp = match rbp {
                Rbp::Register => self.at.get(RBP),
                Rbp::At(place) => self.stack.word(place),
            };
            let caller = Caller {
                pc,
                sp: top.wrapping_add(8),
                rbp,
            };
            match self.site(pc) {
                Site::Yes if !lacking => return Step::Caller(caller),
                Site::Perhaps if index == 0 => return Step::Perhaps(caller),
                Site::Yes | Site::Perhaps => lacking = true,
                Site::No if index == 0 => doubtful = Some(pc),
                Site::No => {}
            }
        }
        match lacking && self.known.is_lacking() {
            true => Step::Lacking,
            false => doubtful.map_or(Step::Unsure, |pc| self.doubt(pc)),
        }
    }

    /// No call returns to an address where a call should: other code may lie there now, as that which was being compiled.
    fn doubt(&mut self, address: u64) -> Step {
        match self.layout.has_code(address) && self.known.doubt(address.wrapping_sub(1)) {
            true => Step::Lacking,
            false => Step::Unsure,
        }
    }

    fn leave_compiled(&mut self, piece: &Piece) -> Step {
        let (sp, code) = (self.sp(), &piece.code);
        let mut address = self.at.registers[RIP];
        if self.at.is_return && address == code.deopt {
            // Its true place was put aside.
            let slot = sp.wrapping_add(u64::from(code.deopt_slot));
            if let Some(place) = self.stack.word(slot).filter(|_| code.deopt_slot != 0) {
                address = place;
            }
        }
        self.name(piece, address);
        let size = 8 * (u64::from(code.frame) - 1);
        let whole = (0..=MORE_WORDS).map(|more| {
            let top = sp.wrapping_add(size + 8 * more);
            (top, Rbp::At(top.wrapping_sub(8)))
        });
        if self.at.is_return {
            return self.first(whole);
        }
        let offset = (address - code.begin) as u32;
        let (pushed, made) = (code.pushed, code.made);
        let before = (sp, Rbp::Register);
        let with_pointer = (sp.wrapping_add(8), Rbp::At(sp));
        let gone = code
            .exits
            .iter()
            .find(|(from, to)| offset + 1 >= *from && offset < *to);
        let here = match gone {
            Some((from, _)) if offset >= *from => Some(before),
            Some(_) => Some(with_pointer),
            None if offset < pushed || pushed == 0 && offset < made => Some(before),
            None if offset < made => Some(with_pointer),
            None if pushed == 0 && offset < code.complete => {
                Some((sp.wrapping_add(size), Rbp::Register))
            }
            None => None,
        };
        match here {
            Some(here) => self.first([here]),
            None => self.first(whole),
        }
    }

    /// Adds a compiled method at an address, behind the functions that are inlined there.
    fn name(&mut self, piece: &Piece, address: u64) {
        let (mut found, scopes) = (false, &piece.code.scopes);
        let mut next = match self.at.is_return {
            true => scope(piece, address),
            false => next_scope(piece, address),
        };
        // Each scope is in one that was read before it.
        while let Some(scope) = next.and_then(|scope| scopes.get(usize::from(scope))) {
            let name = piece.names.get(usize::from(scope.name));
            self.put(name.copied().flatten(), scope.line);
            found = true;
            next = Some(scope.sender).filter(|outer| Some(*outer) < next);
        }
        if !found {
            self.put(piece.names[0], 0);
        }
        if !self.at.is_return {
            // The outermost is certain.
            self.called.guessed = self.called.functions.len().saturating_sub(1);
        }
    }

    fn leave_stub(&mut self, piece: &Piece) -> Step {
        self.put(piece.names[0], 0);
        let (sp, code) = (self.sp(), &piece.code);
        let rbp = self
            .at
            .get(RBP)
            .filter(|rbp| *rbp >= sp && rbp.is_multiple_of(8));
        if self.at.is_return && self.at.registers[RIP] == self.hotspot.call_stub {
            // C++ code called it.
            let Some(rbp) = rbp else { return Step::Unsure };
            let (Some(saved), Some(pc)) =
                (self.stack.word(rbp), self.stack.word(rbp.wrapping_add(8)))
            else {
                return Step::Missing(rbp);
            };
            if self.layout.has_code(pc) {
                return Step::Unsure;
            }
            return Step::Caller(Caller {
                pc,
                sp: rbp.wrapping_add(16),
                rbp: Some(saved),
            });
        }
        if code.frame > 1 && (self.at.is_return || piece.is_complete(self.at.registers[RIP])) {
            let top = sp.wrapping_add(8 * (u64::from(code.frame) - 1));
            let step = self.first([(top, Rbp::At(top.wrapping_sub(8)))]);
            if step != Step::Unsure {
                return step;
            }
        }
        let places = (0..STUB_WORDS).map(|word| {
            let top = sp.wrapping_add(8 * word);
            let place = match rbp.map(|rbp| rbp.wrapping_add(8)) {
                Some(of_pointer) if of_pointer == top => Rbp::At(top.wrapping_sub(8)),
                _ => Rbp::Register,
            };
            (top, place)
        });
        match self.first(places) {
            // Where the helper has called on, only its own frame pointer is certain, and where it has no frame: one word may be there so
            // that the stack of what it called lies at a round address.
            Step::Caller(caller) | Step::Perhaps(caller)
                if self.at.is_return
                    && caller.sp.wrapping_sub(sp) > 16
                    && rbp.map(|rbp| rbp.wrapping_add(16)) != Some(caller.sp) =>
            {
                Step::Unsure
            }
            step => step,
        }
    }

    fn leave_interpreted(&mut self) -> Step {
        let sp = self.sp();
        if !self.at.is_return
            && let Some(step) = self.leave_entry()
        {
            return step;
        }
        let fits = |rbp: &u64| *rbp >= sp && rbp - sp < MAX_FRAME && rbp.is_multiple_of(8);
        let Some(rbp) = self.at.get(RBP).filter(fits) else {
            return Step::Unsure;
        };
        let [method_at, bytecode_at, sender_at] = self
            .layout
            .frame
            .map(|offset| rbp.wrapping_add_signed(offset));
        let (Some(saved), Some(pc)) = (self.stack.word(rbp), self.stack.word(rbp.wrapping_add(8)))
        else {
            return Step::Missing(rbp);
        };
        // What is not pushed yet is in a register still.
        let pushed = |place: u64, register: usize| match place >= sp {
            true => self.stack.word(place).ok_or(Step::Missing(place)),
            false if self.at.is_return => Err(Step::Unsure),
            false => self.at.get(register).ok_or(Step::Unsure),
        };
        let words = pushed(method_at, RBX)
            .and_then(|method| Ok((method, pushed(sender_at, R13)?, pushed(bytecode_at, R13))));
        let (method, sender, bytecode) = match words {
            Ok(words) => words,
            Err(step) => return step,
        };
        if sender <= rbp || sender - rbp > MAX_FRAME || !sender.is_multiple_of(8) {
            return Step::Unsure;
        }
        let caller = Caller {
            pc,
            sp: sender,
            rbp: Some(saved),
        };
        let method = match self.known.method(method) {
            Looked::There(method) => method,
            Looked::Nothing => return Step::Unsure,
            Looked::Lacking => return Step::Perhaps(caller),
        };
        let running = self.at.get(R13).filter(|_| !self.at.is_return);
        let mut runs = [running, bytecode.ok()].into_iter().flatten();
        let runs = runs.find(|at| method.runs(*at));
        // Before its bytecodes are known to the frame, the return address alone makes sure of it.
        if method_at >= sp && runs.is_none() {
            return Step::Unsure;
        }
        self.put(method.name, runs.map_or(0, |at| method.line(at)));
        match self.site(pc) {
            Site::Yes => Step::Caller(caller),
            Site::Perhaps => Step::Perhaps(caller),
            Site::No => self.doubt(pc),
        }
    }

    /// From a method whose interpreter's frame is being made: `rbx` has the method, `r13` the caller's stack pointer, and the return
    /// address lies on the stack, or in `rax` once room for the method's variables is made.
    fn leave_entry(&mut self) -> Option<Step> {
        let sp = self.sp();
        let (method, sender) = (self.at.get(RBX)?, self.at.get(R13)?);
        let mut rbp = self.at.get(RBP);
        let pc = if sender == sp.wrapping_add(8) {
            self.stack.word(sp)?
        } else if sender > sp && sender - sp < MAX_FRAME && sender.is_multiple_of(8) {
            let pc = self.at.get(RAX)?;
            // The first words of the frame may be there already, and its frame pointer.
            if let Some(own) = rbp.filter(|rbp| rbp.wrapping_sub(sp) < BEGUN)
                && self.stack.word(own.wrapping_add(8)) == Some(pc)
            {
                rbp = self.stack.word(own);
            }
            pc
        } else {
            return None;
        };
        if !method.is_multiple_of(8) {
            return None;
        }
        let caller = Caller {
            pc,
            sp: sender,
            rbp,
        };
        let site = self.site(pc);
        if site == Site::No {
            return None;
        }
        match self.known.method(method) {
            Looked::There(method) => self.put(method.name, method.line(method.begin)),
            Looked::Nothing => return None,
            Looked::Lacking => return Some(Step::Perhaps(caller)),
        }
        Some(match site {
            Site::Perhaps => Step::Perhaps(caller),
            _ => Step::Caller(caller),
        })
    }
}

impl KnownMethod {
    /// Whether its bytecode at an address may run; of a native method there is none.
    fn runs(&self, bytecode: u64) -> bool {
        self.begin == self.end || (self.begin..self.end).contains(&bytecode)
    }

    /// The line of its bytecode at an address; 0: it is not known.
    fn line(&self, bytecode: u64) -> u16 {
        let at = bytecode.checked_sub(self.begin);
        let at = at.and_then(|at| u16::try_from(at).ok());
        at.and_then(|at| lines::line(&self.lines, at)).unwrap_or(0)
    }
}

impl Piece {
    fn is_complete(&self, pc: u64) -> bool {
        // Of a helper that does not tell, this is -1.
        pc.wrapping_sub(self.code.begin) >= u64::from(self.code.complete)
    }
}

/// The scope of a stop at this address; [`UNKNOWN`] if that is not told.
fn scope(piece: &Piece, address: u64) -> Option<u16> {
    let offset = u32::try_from(address.checked_sub(piece.code.begin)?).ok()?;
    let at = piece.code.stops.binary_search(&offset).ok()?;
    piece.code.stop_scopes.get(at).copied()
}

/// The scope of the next stop behind an address, as the JVM itself guesses where a place between two stops is; or the one that the ways of
/// the code tell.
fn next_scope(piece: &Piece, address: u64) -> Option<u16> {
    let code = &piece.code;
    let offset = u32::try_from(address.checked_sub(code.begin)?).ok()?;
    let leaf = code.leaves.partition_point(|(from, ..)| *from <= offset);
    let leaf = leaf.checked_sub(1).and_then(|leaf| code.leaves.get(leaf));
    if let Some((.., scope)) = leaf.filter(|(_, to, _)| offset < *to) {
        return Some(*scope);
    }
    let next = code.stops.partition_point(|stop| *stop < offset);
    let behind = code.stop_scopes.get(next..)?;
    behind.iter().copied().find(|scope| *scope != UNKNOWN)
}
