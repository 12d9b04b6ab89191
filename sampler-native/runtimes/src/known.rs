//! What is known of the code of one process, and what is lacking.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use crate::{
    Blocked, Code, Found, Function, Holder, Lack, Method, NameId, Names, Thread, chain::Copied,
};

/// Most bytes of known code of one process; what was not used for longest goes first.
const MOST_BYTES: usize = 6 << 20;
/// Most methods that are known beside it, and most addresses at which nothing is.
const MOST_METHODS: usize = 16 << 10;
/// Most lines of these methods: 2 MiB. Further methods have none.
const MOST_LINES: usize = 512 << 10;
const MOST_NOTHING: usize = 4 << 10;
/// Most threads that are known.
const MOST_THREADS: usize = 16 << 10;
/// A chain that is not copied is asked for so often at once, and then again after this time, ns.
const MOST_TRIES: u8 = 8;
const TRIED_AGAIN: u64 = 5_000_000_000;
/// Most that is asked for at once, and most that is on its way.
const MOST_ASKED: usize = 256;
/// Most threads whose locks are asked for at once.
const MOST_HOLDERS: usize = 128;
/// Code that is used is read again after this time, ns: other code may lie there.
const AGAIN: u64 = 5_000_000_000;
/// The same if a walk found no caller of it.
const DOUBTED: u64 = 100_000_000;
/// Nothing is asked for where nothing was for so long, ns.
const NOTHING: u64 = 1_000_000_000;
/// Where methods come and go a method is asked for again after this time, ns: another method may lie there soon.
const BRIEF: u64 = 10_000_000;
/// Nothing at all is asked for so long after a question that was not answered, ns: each may hold a thread up.
const SILENT: u64 = 10_000_000_000;

/// Code that is known.
#[derive(Debug)]
pub(crate) struct Piece {
    pub code: Code,
    /// Of [`Code::names`].
    pub names: Box<[Option<NameId>]>,
}

impl Piece {
    fn bytes(&self) -> usize {
        size_of::<Piece>()
            + size_of::<Entry>()
            + 4 * size_of::<u64>()
            + size_of_val(&*self.code.exits)
            + size_of_val(&*self.code.stops)
            + size_of_val(&*self.code.stop_scopes)
            + size_of_val(&*self.code.leaves)
            + size_of_val(&*self.code.scopes)
            + size_of_val(&*self.names)
    }
}

#[derive(Debug)]
struct Entry {
    piece: Arc<Piece>,
    /// When it was used last, and when it was read or is being read.
    used: u64,
    read: u64,
}

/// A method that is known.
#[derive(Clone, Debug)]
pub(crate) struct KnownMethod {
    pub name: Option<NameId>,
    pub begin: u64,
    pub end: u64,
    /// As that of [`Method`](crate::Method).
    pub start: u64,
    /// As those of [`Method`](crate::Method).
    pub lines: Arc<[(u16, u16)]>,
    /// As that of [`Method`](crate::Method).
    pub is_native: bool,
    used: u64,
    /// When it was read.
    read: u64,
}

impl KnownMethod {
    /// The method as a function that runs this instruction. A method without a name counts as unread.
    pub fn function(&self, instruction: Option<u16>) -> Function {
        Function {
            name: self.name.unwrap_or(NameId::UNREAD),
            line: self.line_of(instruction),
        }
    }

    /// The line of an instruction; 0: that is not told.
    pub fn line_of(&self, instruction: Option<u16>) -> u16 {
        instruction.map_or(0, |instruction| line_of(&self.lines, instruction))
    }
}

fn is_holder(lack: &Lack) -> bool {
    matches!(lack, Lack::Holder(..))
}

/// The key of a method that is known by its words.
fn key_of([one, other]: [u64; 2]) -> u64 {
    one.rotate_left(24) ^ other
}

/// The line of an instruction, by the numbers of instructions at which lines begin; 0: that is not told.
pub(crate) fn line_of(lines: &[(u16, u16)], instruction: u16) -> u16 {
    let behind = lines.partition_point(|(at, _)| *at <= instruction);
    lines[..behind].last().map_or(0, |(_, line)| *line)
}

/// A thread that is known.
#[derive(Clone, Copy, Debug)]
struct KnownThread {
    thread: Thread,
    /// When it was read.
    read: u64,
    /// How often, and when last, a copy of its chain was asked for.
    tries: u8,
    tried: u64,
}

/// The answer to a question for a holder: on which lock a thread was blocked.
#[derive(Clone, Debug)]
struct KnownHolder {
    /// How often the thread had left its CPU.
    switches: u64,
    /// When it was read.
    read: u64,
    blocked: Blocked,
}

/// What is known of something.
pub(crate) enum Looked<T> {
    There(T),
    /// There is nothing of this kind.
    Nothing,
    /// It is noted as lacking.
    Lacking,
}

impl<T> Looked<T> {
    /// Nothing is known; whether a question for it is noted.
    fn without(is_noted: bool) -> Looked<T> {
        match is_noted {
            true => Looked::Lacking,
            false => Looked::Nothing,
        }
    }
}

/// What is known of the code of one process.
#[derive(Debug, Default)]
pub struct Known {
    codes: BTreeMap<u64, Entry>,
    bytes: usize,
    /// By address, or by the key of their words.
    methods: HashMap<u64, KnownMethod>,
    /// How many lines those have in all.
    lines: usize,
    threads: HashMap<u32, KnownThread>,
    /// By the number of the thread that was blocked.
    holders: HashMap<u32, KnownHolder>,
    /// The thread of this walk, whose chain is to be copied from now on.
    uncopied: Option<Thread>,
    /// When nothing was found, by what was looked for.
    nothing: HashMap<Lack, u64>,
    /// Noted by this walk.
    lacks: Vec<Lack>,
    /// Noted, and needed for no walk.
    stale: Vec<Lack>,
    /// On its way.
    asked: HashSet<Lack>,
    /// Of these, the holders that are to be asked for together.
    gathered: Vec<Lack>,
    /// Until then nothing is asked for.
    silent: u64,
    /// The code that was looked up last.
    last: Option<Arc<Piece>>,
    /// The time of this walk, ns.
    now: u64,
}

impl Known {
    /// A walk begins at this time, ns.
    pub fn begin(&mut self, now: u64) {
        self.now = now;
        self.lacks.clear();
        self.uncopied = None;
        self.last = None;
    }

    /// This walk's thread, if the chain of the thread was not copied and is to be from now on.
    pub fn take_uncopied(&mut self) -> Option<Thread> {
        self.uncopied.take()
    }

    /// Whether anything is to be asked for or awaited.
    pub fn wants(&self) -> bool {
        !self.lacks.is_empty() || !self.stale.is_empty()
    }

    /// Whether the walk came to something that is lacking and may come.
    pub fn is_lacking(&self) -> bool {
        !self.lacks.is_empty()
    }

    /// The last walk lacked something other than a holder, and the answer is on its way.
    pub fn is_awaited(&self) -> bool {
        let mut lacks = self.lacks.iter();
        lacks.any(|lack| !is_holder(lack) && self.asked.contains(lack))
    }

    /// The last walk lacked a holder, and the question is gathered or the answer on its way.
    pub fn is_holder_awaited(&self) -> bool {
        let mut lacks = self.lacks.iter();
        lacks.any(|lack| is_holder(lack) && self.asked.contains(lack))
    }

    /// What is to be read, if anything is. Holders are gathered: those of many threads are read as fast as one.
    pub fn take_asks(&mut self) -> Vec<Lack> {
        let mut asks = Vec::new();
        for lack in self.lacks.iter().chain(&self.stale) {
            if self.asked.len() < MOST_ASKED && self.asked.insert(*lack) {
                let holder = is_holder(lack);
                let to = if holder {
                    &mut self.gathered
                } else {
                    &mut asks
                };
                to.push(*lack);
            }
        }
        self.stale.clear();
        asks
    }

    /// Holders to be asked for with one question, if any were gathered.
    pub fn take_holders(&mut self) -> Vec<Lack> {
        let count = self.gathered.len().min(MOST_HOLDERS);
        self.gathered.drain(..count).collect()
    }

    /// Takes what was read for these; none: it could not be read.
    pub fn come(&mut self, asks: &[Lack], found: Option<Vec<Found>>, names: &mut Names, now: u64) {
        for ask in asks {
            self.asked.remove(ask);
        }
        self.now = self.now.max(now);
        if self.nothing.len() + asks.len() > MOST_NOTHING {
            self.nothing.clear();
        }
        let Some(found) = found else {
            self.silent = now.saturating_add(SILENT);
            return;
        };
        for found in found {
            match found {
                Found::Code(_, Some(code)) => self.put(*code, names),
                Found::Code(pc, None) => {
                    self.drop_at(pc);
                    self.nothing.insert(Lack::Code(pc), now);
                }
                Found::Same(_) => {}
                Found::Absent(lack) => {
                    self.nothing.insert(lack, now);
                }
                Found::Method(at, Some(method)) => self.put_method(at, *method, names, now),
                Found::Method(at, None) => {
                    self.nothing.insert(Lack::Method(at), now);
                }
                Found::Thread(number, Some(thread)) => {
                    if self.threads.len() >= MOST_THREADS {
                        self.threads.clear();
                    }
                    let known = KnownThread {
                        thread,
                        read: now,
                        tries: 0,
                        tried: 0,
                    };
                    // Who had the address before is gone.
                    let is_it = |known: &KnownThread| known.thread.address == thread.address;
                    self.threads.retain(|_, known| !is_it(known));
                    self.threads.insert(number, known);
                }
                Found::Holder(number, switches, blocked) => {
                    if self.holders.len() >= MOST_THREADS {
                        self.holders.clear();
                    }
                    let known = KnownHolder {
                        switches,
                        read: now,
                        blocked,
                    };
                    self.holders.insert(number, known);
                }
                Found::Thread(number, None) => {
                    self.nothing.insert(Lack::Thread(number, 0), now);
                }
            }
        }
        self.bound();
    }

    /// The names that are in use.
    pub fn names(&self) -> impl Iterator<Item = NameId> + '_ {
        let codes = self
            .codes
            .values()
            .flat_map(|entry| entry.piece.names.iter());
        let methods = self.methods.values().map(|method| method.name);
        codes.copied().chain(methods).flatten()
    }

    /// Bytes that are held for code.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn put(&mut self, mut code: Code, names: &mut Names) {
        let ids = code.names.iter().map(|name| names.id(name));
        let ids = ids.collect();
        code.names = Box::default();
        let (begin, end) = (code.begin, code.end);
        // What lay there is gone.
        let before = self.codes.range(..end).rev();
        let over = before.take_while(|(_, known)| known.piece.code.end > begin);
        let over: Vec<u64> = over.map(|(at, _)| *at).collect();
        over.into_iter().for_each(|at| self.drop_at(at));
        let piece = Piece { code, names: ids };
        self.bytes += piece.bytes();
        let entry = Entry {
            piece: Arc::new(piece),
            used: self.now,
            read: self.now,
        };
        self.codes.insert(begin, entry);
    }

    fn put_method(&mut self, at: u64, method: Method, names: &mut Names, now: u64) {
        let lines = method.lines.len();
        if self.methods.len() >= MOST_METHODS || self.lines + lines > MOST_LINES {
            self.methods
                .retain(|_, method| method.used.saturating_add(NOTHING) > now);
            self.lines = self.methods.values().map(|method| method.lines.len()).sum();
        }
        if self.methods.len() >= MOST_METHODS {
            return;
        }
        let known = KnownMethod {
            name: names.id(&method.name),
            begin: method.begin,
            end: method.end,
            start: method.start,
            lines: match self.lines + lines > MOST_LINES {
                true => Arc::default(),
                false => method.lines.into(),
            },
            is_native: method.is_native,
            used: now,
            read: now,
        };
        self.lines += known.lines.len();
        let key = match method.is_by_words {
            true => key_of([known.begin, known.end]),
            false => at,
        };
        if let Some(before) = self.methods.insert(key, known) {
            self.lines -= before.lines.len();
        }
    }

    fn drop_at(&mut self, address: u64) {
        let last = self.codes.range(..=address).next_back();
        let last = last.filter(|(_, entry)| address < entry.piece.code.end);
        if let Some(begin) = last.map(|(begin, _)| *begin)
            && let Some(entry) = self.codes.remove(&begin)
        {
            self.last = None;
            self.bytes -= entry.piece.bytes();
        }
    }

    /// Forgets what was not used for longest, if there is too much.
    fn bound(&mut self) {
        if self.bytes <= MOST_BYTES {
            return;
        }
        let mut all: Vec<(u64, u64)> = self.codes.iter().map(|(at, e)| (e.used, *at)).collect();
        all.sort_unstable();
        for (_, at) in all {
            if self.bytes <= MOST_BYTES / 4 * 3 {
                break;
            }
            self.drop_at(at);
        }
    }

    fn lack(&mut self, lack: Lack) -> bool {
        self.lack_after(lack, NOTHING)
    }

    /// The same where nothing was found, after this time, ns.
    fn lack_after(&mut self, lack: Lack, rest: u64) -> bool {
        let recent = |at: &u64| at.saturating_add(rest) > self.now;
        if self.now < self.silent || self.nothing.get(&lack).is_some_and(recent) {
            return false;
        }
        if self.lacks.len() < MOST_ASKED && !self.lacks.contains(&lack) {
            self.lacks.push(lack);
        }
        true
    }

    /// Code at an address may be needed soon.
    pub(crate) fn lacks_code(&mut self, address: u64) {
        if self.lacks.len() < MOST_ASKED && self.find(address).is_none() {
            self.lack(Lack::Code(address));
        }
    }

    fn find(&self, address: u64) -> Option<&Entry> {
        let (_, entry) = self.codes.range(..=address).next_back()?;
        (address < entry.piece.code.end).then_some(entry)
    }

    /// A walk found no caller of this code: other code may lie there now. Returns whether that is asked for.
    pub(crate) fn doubt(&mut self, address: u64) -> bool {
        let old = self.find(address);
        if old.is_none_or(|entry| entry.read.saturating_add(DOUBTED) > self.now) {
            return false;
        }
        self.drop_at(address);
        self.lack(Lack::Code(address))
    }

    /// The code at an address.
    pub(crate) fn code(&mut self, address: u64) -> Looked<Arc<Piece>> {
        if let Some(last) = &self.last
            && (last.code.begin..last.code.end).contains(&address)
        {
            return Looked::There(Arc::clone(last));
        }
        let last = self.codes.range_mut(..=address).next_back();
        let last = last.map(|(_, entry)| entry);
        if let Some(entry) = last.filter(|entry| address < entry.piece.code.end) {
            entry.used = self.now;
            if entry.read.saturating_add(AGAIN) <= self.now && self.stale.len() < MOST_ASKED {
                entry.read = self.now;
                let again = Lack::Again(address, entry.piece.code.number);
                self.stale.push(again);
            }
            self.last = Some(Arc::clone(&entry.piece));
            return Looked::There(Arc::clone(&entry.piece));
        }
        Looked::without(self.lack(Lack::Code(address)))
    }

    /// The method at an address, if it is the one that has these two words.
    pub(crate) fn method_of(&mut self, address: u64, words: [u64; 2]) -> Looked<KnownMethod> {
        if let Some(method) = self.methods.get_mut(&address) {
            if [method.begin, method.end] == words {
                method.used = self.now;
                return Looked::There(method.clone());
            }
            if method.read.saturating_add(BRIEF) > self.now {
                return Looked::Nothing;
            }
            // Another one lies there now.
            if let Some(before) = self.methods.remove(&address) {
                self.lines -= before.lines.len();
            }
        }
        Looked::without(self.lack_after(Lack::Method(address), BRIEF))
    }

    /// The method that has these two words, a copy of which lies at an address. One that is used is read again: another one may have these
    /// words by now.
    pub(crate) fn method_by(&mut self, address: u64, words: [u64; 2]) -> Looked<KnownMethod> {
        self.method_or(Lack::Method(address), words)
    }

    /// The method at an address that belongs to the method whose address is the second word.
    pub(crate) fn method_of_owner(&mut self, address: u64, words: [u64; 2]) -> Looked<KnownMethod> {
        self.method_or(Lack::MethodOf(address, words[1]), words)
    }

    /// The method that has these two words; what is lacking if there is none.
    fn method_or(&mut self, lack: Lack, words: [u64; 2]) -> Looked<KnownMethod> {
        let known = self.methods.get_mut(&key_of(words));
        if let Some(method) = known.filter(|method| [method.begin, method.end] == words) {
            method.used = self.now;
            if method.read.saturating_add(NOTHING) <= self.now
                && self.stale.len() < MOST_ASKED
                && !self.nothing.contains_key(&lack)
            {
                method.read = self.now;
                self.stale.push(lack);
            }
            return Looked::There(method.clone());
        }
        Looked::without(self.lack_after(lack, BRIEF))
    }

    /// Tells whether a copied chain is of the thread of this number, by what is known of the thread. `copied` is none if nothing was.
    fn is_of_known(&mut self, number: u32, copied: Option<&Copied<'_>>) -> bool {
        let Some(known) = self.threads.get_mut(&number) else {
            self.lack(Lack::Thread(number, 0));
            return false;
        };
        match copied.map(|copied| copied.is_of(known.thread)) {
            Some(true) => {
                known.tries = 0;
                return true;
            }
            Some(false) if known.read.saturating_add(DOUBTED) <= self.now => {
                self.threads.remove(&number);
                self.lack(Lack::Thread(number, 0));
                return false;
            }
            _ => {}
        }
        if known.tries < MOST_TRIES || known.tried.saturating_add(TRIED_AGAIN) <= self.now {
            known.tries = known.tries.saturating_add(1);
            known.tried = self.now;
            self.uncopied = Some(known.thread);
        }
        false
    }

    /// Tells whether a copied chain is of this thread. A chain to which the thread's own memory led always is: the walk does not wait until
    /// the thread is known.
    pub(crate) fn is_of_thread(&mut self, number: u32, copied: Option<&Copied<'_>>) -> bool {
        let Some(own) = copied.filter(|copied| copied.is_own) else {
            return self.is_of_known(number, copied);
        };
        let lack = Lack::Thread(number, 0);
        let recent = |at: u64| at.saturating_add(DOUBTED) > self.now;
        let is_known = self.threads.get(&number);
        let is_known = is_known.is_some_and(|known| own.is_of(known.thread) || recent(known.read));
        let was_absent = self.nothing.get(&lack).is_some_and(|at| recent(*at));
        if !is_known && !was_absent && self.now >= self.silent && self.stale.len() < MOST_ASKED {
            self.stale.push(lack);
        }
        true
    }

    /// A thread that is known.
    pub(crate) fn known_thread(&self, number: u32) -> Option<Thread> {
        self.threads.get(&number).map(|known| known.thread)
    }

    /// The number of the thread that the runtime has at this address.
    pub(crate) fn number_of(&self, address: u64) -> Option<u32> {
        let mut threads = self.threads.iter();
        let (number, _) = threads.find(|(_, known)| known.thread.address == address)?;
        Some(*number)
    }

    /// Whether a thread that had left its CPU so often when it fell asleep may be blocked on a lock that has a holder.
    pub fn may_be_blocked(&self, thread: u32, switches: u64) -> bool {
        let known = self.holders.get(&thread);
        known.is_none_or(|known| known.switches != switches || known.blocked != Blocked::Not)
    }

    /// The holder of the lock that a thread is blocked on, which had left its CPU so often when it was seen asleep at this time, ns. Holders
    /// come and go while a thread sleeps: what was read before counts no more.
    pub fn holder(&mut self, thread: u32, switches: u64, seen: u64) -> Option<Holder> {
        if let Some(known) = self.holders.get(&thread)
            && known.switches == switches
            && known.read >= seen
        {
            return match &known.blocked {
                Blocked::By(holder) => Some(holder.clone()),
                Blocked::Not | Blocked::Unsure => None,
            };
        }
        self.lack(Lack::Holder(thread, 0, switches));
        None
    }

    /// The method at an address.
    pub(crate) fn method(&mut self, address: u64) -> Looked<KnownMethod> {
        if let Some(method) = self.methods.get_mut(&address) {
            method.used = self.now;
            return Looked::There(method.clone());
        }
        Looked::without(self.lack(Lack::Method(address)))
    }
}

#[cfg(test)]
mod tests;
