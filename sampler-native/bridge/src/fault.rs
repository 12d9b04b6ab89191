//! Calls every native method from a real JVM, with a panic inside and with wrong arguments. The JVM runs in a process of
//! its own, whose stderr must stay empty: stderr is the user's screen.

use std::{
    ffi::{CString, c_void},
    mem,
    path::{Path, PathBuf},
    process::Command,
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::{Context, ensure};
use jni::{
    Env, EnvUnowned, JavaVM, NativeMethod,
    objects::{JClass, JString},
    strings::JNIString,
    sys::{self, JNI_OK, JNI_VERSION_1_8, JavaVMInitArgs, JavaVMOption, jint},
};

static ARMED: AtomicBool = AtomicBool::new(false);

/// Panics if it was armed; every exported function calls it.
pub fn strike() {
    if ARMED.swap(false, Ordering::Relaxed) {
        panic!("on purpose");
    }
}

extern "system" fn arm<'l>(_env: EnvUnowned<'l>, _class: JClass<'l>) {
    ARMED.store(true, Ordering::Relaxed);
}

#[test]
fn every_function_that_panics_throws_and_prints_nothing() {
    let child = Command::new(std::env::current_exe().expect("own path"))
        .args(["--exact", "fault::in_a_jvm", "--ignored", "--nocapture"])
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("_JAVA_OPTIONS")
        .output()
        .expect("the test program runs again");
    let (out, err) = (
        String::from_utf8_lossy(&child.stdout),
        String::from_utf8_lossy(&child.stderr),
    );
    assert!(child.status.success(), "{out}\n{err}");
    assert!(out.contains("1 passed"), "{out}");
    assert_eq!(err, "");
}

#[test]
#[ignore = "run by every_function_that_panics_throws_and_prints_nothing, in a process of its own"]
fn in_a_jvm() {
    // Printed to stdout: the silent hook is in force by the time an assertion could fail.
    let wrong = run().unwrap_or_else(|e| format!("{e:#}"));
    println!("{wrong}");
    assert_eq!(wrong, "");
}

fn run() -> anyhow::Result<String> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let classes = std::env::temp_dir().join(format!("flametop-bridge-{}", std::process::id()));
    let compiled = Command::new("javac")
        .args(["-encoding", "UTF-8", "-d"])
        .arg(&classes)
        .arg("-sourcepath")
        .arg(crate_folder.join("../../tui/src/main/java"))
        .arg(crate_folder.join("tests/java/flametop/sampler/BridgeFaults.java"))
        .output()?;
    if !compiled.status.success() {
        anyhow::bail!("javac: {}", String::from_utf8_lossy(&compiled.stderr));
    }
    let vm = start_jvm(&format!("-Djava.class.path={}", classes.display()))?;
    let wrong = vm.attach_current_thread(|env| -> jni::errors::Result<String> {
        register(env)?;
        let class = JNIString::from("flametop/sampler/BridgeFaults");
        let result = env.call_static_method(
            class,
            jni::jni_str!("run"),
            jni::jni_sig!("()Ljava/lang/String;"),
            &[],
        )?;
        let text: JString<'_> = env.cast_local::<JString<'_>>(result.l()?)?;
        text.try_to_string(env)
    });
    std::fs::remove_dir_all(&classes)?;
    Ok(wrong?)
}

/// Starts a JVM in this process, by the C interface: the feature of `jni` for this would have `jni` and all above it built twice, with
/// and without.
fn start_jvm(option: &str) -> anyhow::Result<JavaVM> {
    type Create =
        unsafe extern "system" fn(*mut *mut sys::JavaVM, *mut *mut c_void, *mut c_void) -> jint;
    let library = CString::new(
        java_home()?
            .join("lib/server/libjvm.so")
            .into_os_string()
            .into_encoded_bytes(),
    )?;
    // SAFETY: both names are strings; libjvm is never closed.
    let create = unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        ensure!(!library.is_null(), "libjvm.so cannot be loaded");
        libc::dlsym(library, c"JNI_CreateJavaVM".as_ptr())
    };
    ensure!(!create.is_null(), "libjvm.so has no JNI_CreateJavaVM");
    let option = CString::new(option)?;
    let mut options = JavaVMOption {
        optionString: option.as_ptr().cast_mut(),
        extraInfo: ptr::null_mut(),
    };
    let mut args = JavaVMInitArgs {
        version: JNI_VERSION_1_8,
        nOptions: 1,
        options: &raw mut options,
        ignoreUnrecognized: false,
    };
    let (mut vm, mut env) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the function has this signature, and its arguments live as long as the call.
    let status = unsafe {
        let create: Create = mem::transmute::<*mut c_void, Create>(create);
        create(&raw mut vm, &raw mut env, (&raw mut args).cast())
    };
    ensure!(status == JNI_OK, "the JVM does not start: {status}");
    // SAFETY: the JVM was just made, and lives as long as the process.
    Ok(unsafe { JavaVM::from_raw(vm) })
}

/// The folder of the JDK whose `java` comes first on the path.
fn java_home() -> anyhow::Result<PathBuf> {
    let java = Command::new("java")
        .args(["-XshowSettings:properties", "-version"])
        .output()?;
    let said = String::from_utf8_lossy(&java.stderr);
    let home = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("java.home = "));
    Ok(home.context("java does not say where it is")?.into())
}

/// All functions that the library exports, with their names and signatures in Java.
fn bridge() -> [(&'static str, &'static str, *mut c_void); 9] {
    [
        (
            "abi",
            "()I",
            crate::Java_flametop_sampler_Bridge_abi as *mut c_void,
        ),
        (
            "open",
            "(Ljava/lang/String;)J",
            crate::Java_flametop_sampler_Bridge_open as *mut c_void,
        ),
        (
            "header",
            "(J)[B",
            crate::Java_flametop_sampler_Bridge_header as *mut c_void,
        ),
        (
            "fill",
            "(JLjava/nio/ByteBuffer;ZJ)I",
            crate::Java_flametop_sampler_Bridge_fill as *mut c_void,
        ),
        (
            "wish",
            "(JLjava/lang/String;)V",
            crate::Java_flametop_sampler_Bridge_wish as *mut c_void,
        ),
        (
            "close",
            "(J)V",
            crate::Java_flametop_sampler_Bridge_close as *mut c_void,
        ),
        (
            "check",
            "(Ljava/lang/String;)Ljava/lang/String;",
            crate::Java_flametop_sampler_Bridge_check as *mut c_void,
        ),
        (
            "events",
            "(Ljava/lang/String;Ljava/lang/String;I)[B",
            crate::Java_flametop_sampler_Bridge_events as *mut c_void,
        ),
        (
            "checkSpec",
            "(Ljava/lang/String;)V",
            crate::Java_flametop_sampler_Bridge_checkSpec as *mut c_void,
        ),
    ]
}

#[test]
fn every_exported_function_is_among_those_that_are_made_to_panic() {
    let exported: Vec<&str> = include_str!("lib.rs")
        .split("fn Java_flametop_sampler_Bridge_")
        .skip(1)
        .filter_map(|rest| rest.split('<').next())
        .collect();
    assert_eq!(exported, bridge().map(|(name, ..)| name));
}

/// Binds the functions of this test program as Java would find them in the library.
fn register(env: &mut Env<'_>) -> jni::errors::Result<()> {
    let bridge = bridge();
    for (class, methods) in [
        ("flametop/sampler/Bridge", &bridge[..]),
        (
            "flametop/sampler/BridgeFaults",
            &[("arm", "()V", arm as *mut c_void)],
        ),
    ] {
        let texts: Vec<_> = methods
            .iter()
            .map(|(n, s, f)| (JNIString::from(*n), JNIString::from(*s), *f))
            .collect();
        let natives: Vec<_> = texts
            .iter()
            // SAFETY: each function has the parameters that its signature says, after the environment and the class.
            .map(|(name, signature, function)| unsafe {
                NativeMethod::from_raw_parts(name, signature, *function)
            })
            .collect();
        // SAFETY: as above; the functions live as long as the process.
        unsafe { env.register_native_methods(JNIString::from(class), &natives)? };
    }
    Ok(())
}
