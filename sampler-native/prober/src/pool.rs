//! Threads for work that may wait for others, perhaps for ever.
//!
//! Nobody waits for such a thread. One that is slow is left behind and another takes its place, up to a bound; what it was to find
//! out is answered at a deadline in any case. Users are served in turn, and a user whose processes hold several threads gets no more
//! until some of these are back: nobody's work keeps that of others waiting.

use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::priority::{self, Priority};

/// Threads that are not slow.
const WORKERS: usize = 4;
/// Of these, one user has at most so many.
const WORKERS_OF_USER: usize = WORKERS - 1;
/// Work that takes longer is slow.
pub(crate) const SLOW: Duration = Duration::from_millis(50);
/// What takes longer is answered without it.
const DEADLINE: Duration = Duration::from_secs(1);
/// Most threads left behind, and those that work for one user.
pub(crate) const MOST_SLOW: usize = 64;
const MOST_SLOW_OF_USER: usize = 8;
/// While so many are left behind, one user has at most so many: who comes last still finds some.
const FEWER: [(usize, usize); 2] = [
    (MOST_SLOW / 2, MOST_SLOW_OF_USER / 2),
    (MOST_SLOW * 3 / 4, 1),
];
/// Most work that waits, and that of one user.
pub(crate) const MOST_QUEUED: usize = 8192;
pub(crate) const MOST_QUEUED_OF_USER: usize = 2048;
/// Whose work took so long is served by threads of ordinary priority for a while.
const LONG: Duration = Duration::from_millis(5);
const PENANCE: Duration = Duration::from_secs(1);
/// Users that are in [`State::long`] before those are forgotten whose time is over.
const USERS_KEPT: usize = 1024;

type Work<A> = Box<dyn FnOnce() -> A + Send>;

struct Job<A> {
    user: u32,
    /// The answer if there is none in time.
    late: A,
    work: Work<A>,
}

struct Running<A> {
    user: u32,
    since: Instant,
    slow: bool,
    /// Nothing once it was given.
    late: Option<A>,
}

struct State<A> {
    queues: HashMap<u32, VecDeque<Job<A>>>,
    /// Users whose work waits, in turn.
    turns: VecDeque<u32>,
    queued: usize,
    running: HashMap<u64, Running<A>>,
    next: u64,
    workers: usize,
    idle: usize,
    /// When work of a user took long.
    long: HashMap<u32, Instant>,
    answers: Vec<A>,
    given_up: u64,
    ended: bool,
}

struct Shared<A> {
    state: Mutex<State<A>>,
    work: Condvar,
    on_answer: Box<dyn Fn() + Send + Sync>,
}

/// The threads. What runs when this is dropped is left to itself.
pub struct Pool<A: Send + 'static> {
    shared: Arc<Shared<A>>,
}

impl<A: Send + 'static> Pool<A> {
    /// Starts no thread before there is work. `on_answer` is called by those threads when there is something to take.
    pub fn new(on_answer: impl Fn() + Send + Sync + 'static) -> Pool<A> {
        let state = State {
            queues: HashMap::new(),
            turns: VecDeque::new(),
            queued: 0,
            running: HashMap::new(),
            next: 0,
            workers: 0,
            idle: 0,
            long: HashMap::new(),
            answers: Vec::new(),
            given_up: 0,
            ended: false,
        };
        Pool {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                work: Condvar::new(),
                on_answer: Box::new(on_answer),
            }),
        }
    }

    /// Has a thread do this for a process of that user. Its answer comes by [`Pool::take`], or `late` at the deadline. False: nobody
    /// will, since too much waits already.
    pub fn ask(&self, user: u32, late: A, work: impl FnOnce() -> A + Send + 'static) -> bool {
        let mut state = self.shared.state();
        let of_user = state.queues.get(&user).map_or(0, VecDeque::len);
        if state.queued >= MOST_QUEUED || of_user >= MOST_QUEUED_OF_USER || state.is_exhausted(user)
        {
            return false;
        }
        let job = Job {
            user,
            late,
            work: Box::new(work),
        };
        state.queues.entry(user).or_default().push_back(job);
        state.queued += 1;
        if of_user == 0 {
            state.turns.push_back(user);
        }
        self.staff(&mut state);
        true
    }

    /// The answers that have come, those at their deadline included.
    pub fn take(&self) -> Vec<A> {
        let mut state = self.shared.state();
        state.expire(Instant::now());
        self.staff(&mut state);
        std::mem::take(&mut state.answers)
    }

    /// Whether anything is to be answered still: then [`Pool::take`] is to be called now and then, for its deadline.
    pub fn waits(&self) -> bool {
        let state = self.shared.state();
        state.queued > 0 || state.running.values().any(|running| running.late.is_some())
    }

    /// How many threads are left behind now, and how much was given up since the beginning.
    pub fn lost(&self) -> (usize, u64) {
        let state = self.shared.state();
        let late = state.running.values().filter(|r| r.late.is_none()).count();
        (late, state.given_up)
    }

    /// Starts threads if more could work, and wakes those that may: of a user whose work is slow more is begun.
    fn staff(&self, state: &mut State<A>) {
        let slow = state.slow();
        if state.queued > 0 && state.idle > 0 {
            self.shared.work.notify_all();
        }
        while state.idle < state.queued && state.workers < WORKERS + slow.min(MOST_SLOW) {
            let shared = Arc::clone(&self.shared);
            let started = thread::Builder::new()
                .name("flametop-probe".to_owned())
                .stack_size(512 << 10)
                .spawn(move || shared.work());
            if started.is_err() {
                return;
            }
            state.workers += 1;
            state.idle += 1;
        }
    }
}

impl<A: Send + 'static> Drop for Pool<A> {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.work.notify_all();
    }
}

impl<A> Shared<A> {
    fn state(&self) -> MutexGuard<'_, State<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread's life.
    fn work(&self) {
        // Not allowed is not fatal: a process that lives for a moment may then be gone before its turn.
        let _ = priority::set(Priority::Prompt);
        let mut state = self.state();
        loop {
            if state.ended {
                break;
            }
            let Some((number, work, long)) = state.begin() else {
                // Many that were slow are back.
                if state.workers > WORKERS + state.slow() {
                    break;
                }
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.idle -= 1;
            drop(state);
            if long {
                let _ = priority::set(Priority::Ordinary);
            }
            let done = catch_unwind(AssertUnwindSafe(work)).ok();
            if long {
                let _ = priority::set(Priority::Prompt);
            }
            state = self.state();
            state.idle += 1;
            if state.end(number, done) {
                drop(state);
                (self.on_answer)();
                state = self.state();
            }
        }
        state.workers -= 1;
        state.idle -= 1;
    }
}

impl<A> State<A> {
    fn slow(&self) -> usize {
        self.running.values().filter(|running| running.slow).count()
    }

    /// Whether nothing more is to be begun for a user now.
    fn is_exhausted(&self, user: u32) -> bool {
        let slow = self.running.values().filter(|running| running.slow);
        let all = slow.clone().count();
        let fewer = FEWER.iter().rfind(|(most, _)| all >= *most);
        let most_of_user = fewer.map_or(MOST_SLOW_OF_USER, |(_, of_user)| *of_user);
        let of_user = slow.filter(|running| running.user == user).count();
        all >= MOST_SLOW || of_user >= most_of_user
    }

    /// Takes the next work, and whether it may take long.
    fn begin(&mut self) -> Option<(u64, Work<A>, bool)> {
        let mut job = None;
        for _ in 0..self.turns.len() {
            let user = self.turns.pop_front()?;
            let prompt = self.running.values().filter(|r| r.user == user && !r.slow);
            let Some(queue) = self.queues.get_mut(&user) else {
                continue;
            };
            let of_user = queue.len();
            if prompt.count() < WORKERS_OF_USER {
                job = queue.pop_front();
            }
            if of_user > usize::from(job.is_some()) {
                self.turns.push_back(user);
            } else {
                self.queues.remove(&user);
            }
            if job.is_some() {
                break;
            }
        }
        let Job { user, late, work } = job?;
        self.queued -= 1;
        let now = Instant::now();
        let long = self
            .long
            .get(&user)
            .is_some_and(|last| now < *last + PENANCE);
        let running = Running {
            user,
            since: now,
            slow: false,
            late: Some(late),
        };
        self.next += 1;
        self.running.insert(self.next, running);
        Some((self.next, work, long))
    }

    /// Some work is done; nothing if that failed. Whether that is an answer.
    fn end(&mut self, number: u64, done: Option<A>) -> bool {
        let Some(running) = self.running.remove(&number) else {
            return false;
        };
        let now = Instant::now();
        if now - running.since >= LONG {
            if self.long.len() >= USERS_KEPT {
                self.long.retain(|_, last| now < *last + PENANCE);
            }
            self.long.insert(running.user, now);
        }
        let answer = running.late.map(|late| done.unwrap_or(late));
        let answers = answer.is_some();
        self.answers.extend(answer);
        answers
    }

    /// Answers what is late, and what nobody will begin.
    fn expire(&mut self, now: Instant) {
        for running in self.running.values_mut() {
            running.slow |= now - running.since >= SLOW;
            if now - running.since >= DEADLINE
                && let Some(late) = running.late.take()
            {
                self.answers.push(late);
                self.given_up += 1;
            }
        }
        let mut users: Vec<u32> = self.turns.iter().copied().collect();
        users.retain(|user| self.is_exhausted(*user));
        for user in users {
            self.turns.retain(|of| *of != user);
            let jobs = self.queues.remove(&user).unwrap_or_default();
            self.queued -= jobs.len();
            self.given_up += jobs.len() as u64;
            self.answers.extend(jobs.into_iter().map(|job| job.late));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Work that ends when the sender is dropped.
    fn hang(pool: &Pool<u32>, user: u32, answer: u32) -> Option<Sender<()>> {
        let (end, ended): (Sender<()>, Receiver<()>) = channel();
        let work = move || {
            let _ = ended.recv();
            answer
        };
        pool.ask(user, answer + 1000, work).then_some(end)
    }

    fn next(pool: &Pool<u32>) -> u32 {
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            wait(pool, until);
            let mut answers = pool.take();
            if let Some(answer) = answers.pop() {
                assert!(answers.is_empty(), "one at a time");
                return answer;
            }
        }
        panic!("no answer");
    }

    /// Waits until there is an answer, no longer than until then.
    fn wait<A: Send>(pool: &Pool<A>, until: Instant) {
        loop {
            let mut state = pool.shared.state();
            state.expire(Instant::now());
            pool.staff(&mut state);
            if !state.answers.is_empty() || Instant::now() >= until {
                return;
            }
            drop(state);
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn ask_work_that_hangs_is_answered_late_and_others_go_on() {
        let pool = Pool::new(|| {});
        let hung: Vec<_> = (0..MOST_SLOW_OF_USER as u32)
            .map(|n| hang(&pool, 1, n))
            .collect();
        assert!(hung.iter().all(Option::is_some));
        assert!(pool.ask(2, 0, || 7));
        assert_eq!(next(&pool), 7, "another user's comes first");
        let mut late = Vec::new();
        while late.len() < hung.len() {
            wait(&pool, Instant::now() + DEADLINE);
            late.extend(pool.take());
        }
        late.sort_unstable();
        let expected: Vec<u32> = (1000..1000 + hung.len() as u32).collect();
        assert_eq!(late, expected);
        assert_eq!(pool.lost(), (hung.len(), hung.len() as u64));
        assert!(!pool.ask(1, 0, || 8), "this user holds enough");
        assert!(pool.ask(2, 0, || 9));
        assert_eq!(next(&pool), 9);
        drop(hung);
        let until = Instant::now() + Duration::from_secs(60);
        while pool.lost().0 > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(pool.ask(1, 0, || 10), "they are back");
        assert_eq!(
            next(&pool),
            10,
            "and what they found is not told a second time"
        );
    }

    #[test]
    fn ask_many_users_that_hang_no_more_than_the_bound_are_left_behind() {
        let pool = Pool::new(|| {});
        let mut hung = Vec::new();
        let until = Instant::now() + Duration::from_secs(120);
        let mut user = 0;
        while pool.lost().0 < MOST_SLOW {
            assert!(Instant::now() < until, "{:?}", pool.lost());
            user += 1;
            hung.extend(hang(&pool, user, user));
            wait(&pool, Instant::now() + Duration::from_millis(10));
            pool.take();
        }
        assert!(!pool.ask(1_000_000, 0, || 1));
        assert!(pool.shared.state().workers <= WORKERS + MOST_SLOW);
    }

    #[test]
    fn ask_ten_users_that_hang_as_much_as_they_may_leave_threads_for_another() {
        let pool = Pool::new(|| {});
        let mut hung = Vec::new();
        for _ in 0..2 * MOST_SLOW_OF_USER {
            hung.extend((1..=10).filter_map(|user| hang(&pool, user, user)));
            // All that may be is begun, and slow.
            thread::sleep(2 * SLOW);
            pool.take();
        }
        assert!(pool.lost().0 < MOST_SLOW, "{:?}", pool.lost());
        assert!(pool.ask(99, 0, || 7));
        let until = Instant::now() + Duration::from_secs(60);
        let mut answers = Vec::new();
        while !answers.contains(&7) && Instant::now() < until {
            wait(&pool, until);
            answers.extend(pool.take());
        }
        assert!(answers.contains(&7), "{answers:?}");
    }

    #[test]
    fn ask_work_that_panics_is_answered_as_if_late() {
        let pool = Pool::new(|| {});
        assert!(pool.ask(1, 5, || panic!("of the test")));
        assert_eq!(next(&pool), 5);
        assert!(pool.ask(1, 5, || 6));
        assert_eq!(next(&pool), 6);
    }

    #[test]
    fn ask_one_user_s_crowd_does_not_keep_another_waiting() {
        let pool = Pool::new(|| {});
        let slowly = |answer| {
            move || {
                thread::sleep(Duration::from_millis(20));
                answer
            }
        };
        for _ in 0..MOST_QUEUED_OF_USER {
            pool.ask(1, 1, slowly(1));
        }
        let begin = Instant::now();
        assert!(pool.ask(2, 2, || 2));
        let mut before = 0;
        loop {
            wait(&pool, Instant::now() + DEADLINE);
            let answers = pool.take();
            if answers.contains(&2) {
                break;
            }
            before += answers.len();
            assert!(begin.elapsed() < Duration::from_secs(60));
        }
        assert!(before < MOST_QUEUED_OF_USER / 10, "{before}");
    }
}
