//! Symbol names as people write them. Only names that are marked as mangled are touched: a C
//! function `h` stays `h`.

use std::fmt::{self, Write};
use std::panic::catch_unwind;

use cpp_demangle::{DemangleOptions, ParseOptions};

use crate::NAME_MAX;

/// A longer mangled name is shown as it is: its length is a cost that its owner chose.
const MANGLED_MAX: usize = 8 << 10;
/// Depth of nesting that is followed. Real names stay below 50.
const DEPTH_MAX: u32 = 96;
const CUT: &str = "…";

/// The name to show for the symbol `raw`: without its version, demangled if it is a C++ or Rust
/// name, at most [`NAME_MAX`] bytes.
pub fn shown_name(raw: &str) -> String {
    let name = without_version(raw);
    let mangled = name.starts_with("_Z") || name.starts_with("_R");
    // The demanglers are not ours and the names are not our user's: one that panics costs that one
    // name.
    let plain = if mangled && name.len() <= MANGLED_MAX {
        catch_unwind(|| demangle(name)).ok().flatten()
    } else {
        None
    };
    plain.unwrap_or_else(|| Bounded::default().with(name))
}

/// `text`, cut to at most `longest` bytes.
pub fn bounded(text: &str, longest: usize) -> Vec<u8> {
    if text.len() <= longest {
        return text.as_bytes().to_vec();
    }
    let mut end = longest - CUT.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    [&text.as_bytes()[..end], CUT.as_bytes()].concat()
}

/// `read@@GLIBC_2.2.5` is `read`; `read@plt`, the call by way of the linkage table, is something
/// else and stays.
fn without_version(raw: &str) -> &str {
    match raw.find('@') {
        Some(at) if at > 0 && &raw[at..] != "@plt" => &raw[..at],
        _ => raw,
    }
}

fn demangle(name: &str) -> Option<String> {
    let mut out = Bounded::default();
    let result = if name.starts_with("_R") || is_legacy_rust(name) {
        write!(out, "{:#}", rustc_demangle::try_demangle(name).ok()?)
    } else {
        let parse = ParseOptions::default().recursion_limit(DEPTH_MAX);
        // Return types stand before the name and only templates have them: `void f<int>(int)`.
        let options = DemangleOptions::default()
            .no_return_type()
            .recursion_limit(DEPTH_MAX);
        cpp_demangle::Symbol::new_with_options(name, &parse)
            .ok()?
            .structured_demangle(&mut out, &options)
    };
    match result {
        Ok(()) => Some(out.text),
        Err(fmt::Error) if out.full => Some(out.text),
        Err(fmt::Error) => None,
    }
}

/// Whether the last part of `_ZN…E` is Rust's hash, `17h` and 16 hexadecimal digits.
fn is_legacy_rust(name: &str) -> bool {
    let name = name
        .split_once(".llvm.")
        .map_or(name, |(name, _)| name)
        .as_bytes();
    let Some([b'1', b'7', b'h', hash @ .., b'E']) =
        name.len().checked_sub(20).map(|at| &name[at..])
    else {
        return false;
    };
    name.starts_with(b"_ZN") && hash.iter().all(u8::is_ascii_hexdigit)
}

/// Text that stops the writer when it is full, and then ends in [`CUT`].
#[derive(Default)]
struct Bounded {
    text: String,
    full: bool,
}

impl Bounded {
    fn with(mut self, text: &str) -> String {
        // An error only says that the text is full.
        let _ = self.write_str(text);
        self.text
    }
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.full {
            return Err(fmt::Error);
        }
        if self.text.len() + text.len() <= NAME_MAX {
            self.text.push_str(text);
            return Ok(());
        }
        self.full = true;
        self.text.push_str(text.get(..NAME_MAX).unwrap_or(text));
        let mut end = NAME_MAX - CUT.len();
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        self.text.truncate(end);
        self.text.push_str(CUT);
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_name_c_name_is_not_touched() {
        for name in [
            "h", "main", "_start", "_Exit", "_", "", "__read", "read@plt", "_ZTVfoo!", "_Rust",
        ] {
            assert_eq!(shown_name(name), name);
        }
    }

    #[test]
    fn shown_name_version_is_cut_off() {
        assert_eq!(shown_name("read@@GLIBC_2.2.5"), "read");
        assert_eq!(shown_name("memcpy@GLIBC_2.14"), "memcpy");
        assert_eq!(
            shown_name("_ZNSo5flushEv@@GLIBCXX_3.4"),
            "std::ostream::flush()"
        );
        assert_eq!(shown_name("@plt"), "@plt");
    }

    #[test]
    fn shown_name_mangled_is_demangled_without_hash_and_return_type() {
        assert_eq!(shown_name("_ZN5space3fooEii"), "space::foo(int, int)");
        assert_eq!(shown_name("_Z3maxIiET_S0_S0_"), "max<int>(int, int)");
        assert_eq!(
            shown_name("_ZN4core3fmt5write17h0123456789abcdefE"),
            "core::fmt::write"
        );
        assert_eq!(
            shown_name("_ZN4core3fmt5write17h0123456789abcdefE.llvm.123"),
            "core::fmt::write"
        );
        assert_eq!(shown_name("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
    }

    #[test]
    fn shown_name_deep_nesting_stays_bounded() {
        let pointers = format!("_Z1fP{}i", "P".repeat(6_000));
        let templates = format!("_Z1f{}i{}", "1AI".repeat(2_000), "E".repeat(2_000));
        let rust = format!("_RINvC1a1b{}hE", "R".repeat(6_000));
        for name in [pointers, templates, rust] {
            let shown = shown_name(&name);
            assert!(shown.len() <= NAME_MAX, "{} bytes", shown.len());
        }
    }

    #[test]
    fn shown_name_substitutions_that_double_the_output_stop_at_the_bound() {
        // Each template argument list names the one before twice: 2^40 parts if all were written.
        let mut name = String::from("_Z1f1AIiiE");
        for i in 0..30 {
            let seq = if i == 0 {
                "S_".to_string()
            } else {
                format!(
                    "S{}_",
                    std::char::from_digit(i, 36)
                        .unwrap_or('0')
                        .to_ascii_uppercase()
                )
            };
            name.push_str(&format!("1AI{seq}{seq}E"));
        }
        assert!(shown_name(&name).len() <= NAME_MAX);
    }

    #[test]
    fn shown_name_28_kib_is_cut_at_a_character() {
        let shown = shown_name(&"ä".repeat(14 << 10));
        assert!(shown.len() <= NAME_MAX && shown.len() > NAME_MAX - 8);
        assert!(shown.ends_with(CUT));
        assert_eq!(shown_name(&"x".repeat(NAME_MAX)).len(), NAME_MAX);
        assert!(shown_name(&format!("_Z{}", "x".repeat(28 << 10))).starts_with("_Zxxx"));
    }
}
