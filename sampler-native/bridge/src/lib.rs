//! `libflametop.so`: the native methods of the Java class `flametop.sampler.Bridge`. There is no policy here; each
//! function checks what Java passed and calls the session.
//!
//! # Errors
//! A failure is thrown as `flametop.sampler.SamplerException` with the text `CODE\tmessage`; CODE is the exit code of the command
//! line. Panics too (code 1): each function runs inside one guard, and nothing is ever written to stderr.
//!
//! # Threads
//! Every function may be called from any thread. `fill` of one handle and a `wish` for other rates wait for each other;
//! any other `wish` waits for nothing. A handle that was closed, or never opened, is an error for all but `close`.

use std::{
    any::Any,
    cell::Cell,
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock, Mutex, MutexGuard, Once, PoisonError},
};

use flametop_sampler::{Listed, OpenError, Session, Wish, Wishes};
use jni::{
    Env, EnvUnowned,
    errors::ErrorPolicy,
    objects::{JByteArray, JByteBuffer, JClass, JString},
    strings::JNIString,
    sys::{jboolean, jint, jlong},
};

/// Why a call failed.
#[derive(Debug)]
struct Failure {
    code: u8,
    message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}", self.code, self.message)
    }
}

impl From<jni::errors::Error> for Failure {
    fn from(e: jni::errors::Error) -> Failure {
        Failure {
            code: 1,
            message: format!("Java passed what the native side cannot take: {e}"),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(e: anyhow::Error) -> Failure {
        Failure {
            code: 1,
            message: format!("{e:#}"),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(e: OpenError) -> Failure {
        Failure {
            code: e.code,
            message: e.message,
        }
    }
}

/// Throws failures and panics.
struct Throw;

impl<T: Default> ErrorPolicy<T, Failure> for Throw {
    type Captures<'unowned: 'method, 'method> = ();

    fn on_error<'unowned: 'method, 'method>(
        env: &mut Env<'unowned>,
        (): &mut (),
        failure: Failure,
    ) -> jni::errors::Result<T> {
        if !env.exception_check() {
            let class = JNIString::from("flametop/sampler/SamplerException");
            let text = JNIString::from(failure.to_string());
            // It is an error by definition: the exception it has just thrown.
            let _ = env.throw_new(class, text);
        }
        Ok(T::default())
    }

    fn on_panic<'unowned: 'method, 'method>(
        env: &mut Env<'unowned>,
        captures: &mut (),
        payload: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        let said = payload
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        // Dropping what was thrown may panic again.
        std::mem::forget(payload);
        let failure = Failure {
            code: 1,
            message: format!(
                "the native side failed: {}; please report this",
                said.unwrap_or_default().replace(['\n', '\t'], " ")
            ),
        };
        Self::on_error(env, captures, failure)
    }
}

/// Runs the body of every exported function: nothing unwinds into the JVM, nothing is printed.
fn guard<'l, T: Default>(
    mut env: EnvUnowned<'l>,
    body: impl FnOnce(&mut Env<'l>) -> Result<T, Failure>,
) -> T {
    static SILENCE: Once = Once::new();
    // The default hook writes to stderr, which is the user's screen.
    SILENCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    env.with_env(|env| {
        #[cfg(test)]
        fault::strike();
        body(env)
    })
    .resolve::<Throw>()
}

/// One open session.
struct Open {
    session: Mutex<Session>,
    wishes: Wishes,
}

/// The open sessions by handle; handles are never used twice.
#[derive(Default)]
struct Handles {
    last: jlong,
    open: HashMap<jlong, Arc<Open>>,
}

static HANDLES: LazyLock<Mutex<Handles>> = LazyLock::new(Mutex::default);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn find(handle: jlong) -> Result<Arc<Open>, Failure> {
    lock(&HANDLES)
        .open
        .get(&handle)
        .cloned()
        .ok_or_else(|| Failure {
            code: 1,
            message: format!("the session is closed (handle {handle})"),
        })
}

thread_local! {
    static RAISED: Cell<bool> = const { Cell::new(false) };
}

/// Number of the kernel records in the upper half, version of the stream in the lower.
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_abi<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jint {
    guard(env, |_| Ok(flametop_sampler::abi().cast_signed()))
}

/// Opens a session with these settings and gives its handle, which is never 0.
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_open<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    settings: JString<'l>,
) -> jlong {
    guard(env, |env| {
        let session = Session::open(&settings.try_to_string(env)?)?;
        let wishes = session.wishes();
        let mut handles = lock(&HANDLES);
        handles.last += 1;
        let handle = handles.last;
        let session = Mutex::new(session);
        handles
            .open
            .insert(handle, Arc::new(Open { session, wishes }));
        Ok(handle)
    })
}

/// The file header of the session's stream.
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_header<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    handle: jlong,
) -> JByteArray<'l> {
    guard(env, |env| {
        let open = find(handle)?;
        let session = lock(&open.session);
        Ok(env.byte_array_from_slice(session.header())?)
    })
}

/// Fills one batch from the start of a direct buffer; returns its length. The first call on a thread raises its priority.
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_fill<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    handle: jlong,
    direct: JByteBuffer<'l>,
    pass: jboolean,
    late: jlong,
) -> jint {
    guard(env, |env| {
        let open = find(handle)?;
        let address = env.get_direct_buffer_address(&direct)?;
        let capacity = env
            .get_direct_buffer_capacity(&direct)?
            .min(jint::MAX as usize);
        // SAFETY: the JVM says that `capacity` bytes are there, `direct` keeps them alive through this call, and by the contract of
        // `Bridge.fill` the buffer is writable and the caller's alone until it returns.
        let out = unsafe { std::slice::from_raw_parts_mut(address, capacity) };
        if !RAISED.replace(true) {
            // Where it is not allowed, late passes are counted and shown.
            let _ = flametop_sampler::raise_priority();
            // It waits for a safepoint to end, and for batches to be taken.
            flametop_sampler::favour(&["VM Thread", "profile"]);
        }
        let late = u64::try_from(late).unwrap_or(0);
        Ok(lock(&open.session).fill(out, pass, late)? as jint)
    })
}

/// Makes a wish of an open session: `key=value`, see [`Wish`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_wish<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    handle: jlong,
    wish: JString<'l>,
) {
    guard(env, |env| {
        let open = find(handle)?;
        match Wish::parse(&wish.try_to_string(env)?)? {
            Wish::Rates(pass_hz, cpu_hz) => lock(&open.session).set_rates(pass_hz, cpu_hz)?,
            Wish::Names(frames) => open.wishes.ask_names(&frames),
            Wish::Places(frames) => open.wishes.ask_places(&frames),
            Wish::ForceProbes => open.wishes.force_probes(),
            Wish::SourceOn(number, spec) => open.wishes.set_source(number, Some(spec)),
            Wish::SourceOff(number) => open.wishes.set_source(number, None),
        }
        Ok(())
    });
}

/// Closes a session. A handle that is closed already is left alone.
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_close<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    handle: jlong,
) {
    guard(env, |_| {
        let open = lock(&HANDLES).open.remove(&handle);
        // Waits for its threads, with the table of handles free.
        drop(open);
        Ok(())
    });
}

/// What this machine allows: lines of `ok|no|missing`, `needed|optional`, what, detail, remedy, with tabs between.
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_check<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    settings: JString<'l>,
) -> JString<'l> {
    guard(env, |env| {
        let settings = settings.try_to_string(env)?;
        let mut text = String::new();
        for line in flametop_sampler::check(&settings)? {
            let field = |s: &str| s.replace(['\t', '\n'], " ");
            let state = match (line.ok, line.needed) {
                (true, _) => "ok",
                (false, true) => "no",
                (false, false) => "missing",
            };
            let needed = if line.needed { "needed" } else { "optional" };
            text.push_str(&format!(
                "{state}\t{needed}\t{}\t{}\t{}\n",
                field(&line.what),
                field(&line.detail),
                field(&line.remedy)
            ));
        }
        Ok(env.new_string(text)?)
    })
}

/// The sources of events that this machine has: the number of those that fit to the pattern, then a line for each of the first `most`: the
/// spec, its arguments or fields, and why it cannot be had, with tabs between. An empty pattern fits to all.
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_events<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    settings: JString<'l>,
    pattern: JString<'l>,
    most: jint,
) -> JByteArray<'l> {
    guard(env, |env| {
        let settings = settings.try_to_string(env)?;
        let pattern = pattern.try_to_string(env)?;
        let pattern = Some(pattern.as_str()).filter(|pattern| !pattern.is_empty());
        let most = usize::try_from(most).unwrap_or(0);
        let listing = flametop_sampler::events(&settings, pattern, most)?;
        let mut text = format!("{}\n", listing.all);
        for Listed {
            spec,
            details,
            missing,
        } in &listing.found
        {
            for (field, end) in [(spec, '\t'), (details, '\t'), (missing, '\n')] {
                // Names of a program may be anything.
                text.extend(field.chars().map(|c| if c.is_control() { '?' } else { c }));
                text.push(end);
            }
        }
        Ok(env.byte_array_from_slice(text.as_bytes())?)
    })
}

/// Throws where a text is no spec of a source of events.
#[unsafe(no_mangle)]
pub extern "system" fn Java_flametop_sampler_Bridge_checkSpec<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    spec: JString<'l>,
) {
    guard(env, |env| {
        Ok(flametop_sampler::check_spec(&spec.try_to_string(env)?)?)
    });
}

#[cfg(test)]
mod fault;
