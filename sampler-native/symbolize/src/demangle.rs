//! Symbol names as people write them. Only names that are marked as mangled are touched: a C
//! function `h` stays `h`.

use std::fmt::{self, Write};
use std::panic::catch_unwind;

use cpp_demangle::{DemangleOptions, ParseOptions};

use crate::{NAME_MAX, languages};

/// A longer mangled name is shown as it is: its length is a cost that its owner chose.
const MANGLED_MAX: usize = 8 << 10;
/// Depth of nesting that is followed. Real names stay below 50.
const DEPTH_MAX: u32 = 96;
const CUT: &str = "…";

/// The name to show for the symbol `raw`: without its version, demangled if it is a name of C++,
/// Rust, D, Haskell, OCaml or Swift, at most [`NAME_MAX`] bytes.
pub fn shown_name(raw: &str) -> String {
    let name = without_version(raw);
    let mangled = name.starts_with("_Z") || name.starts_with("_R");
    // The demanglers are not ours and the names are not our user's: one that panics costs that one
    // name.
    let plain = if name.len() > MANGLED_MAX {
        None
    } else if mangled {
        catch_unwind(|| demangle(name)).ok().flatten()
    } else {
        let plain = catch_unwind(|| languages::plain(name)).ok().flatten();
        plain.map(|plain| Bounded::default().with(&plain))
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

/// Symbols that name no function: `$x` and `$d`, by which ARM's assemblers tell code from data, and
/// local labels such as `.L4` and `.annobin_init.c`.
pub fn is_label(name: &str) -> bool {
    let mut bytes = name.bytes();
    matches!(
        (bytes.next(), bytes.next(), bytes.next()),
        (Some(b'.'), _, _)
            | (
                Some(b'$'),
                Some(b'a' | b'd' | b't' | b'x'),
                None | Some(b'.')
            )
    )
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

    /// xorshift64*: the same in every run.
    struct Noise(u64);

    impl Noise {
        fn below(&mut self, bound: usize) -> usize {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
        }
    }

    /// Names that use much of both grammars.
    const NAMES: [&str; 18] = [
        "camlDune__exe__Main__$2b$2e_12",
        "camlLib__Deep$$$2b_12",
        "_D3app14__T3fooTiTAyaZQpQbFZv",
        "containerszm0zi6zi7_DataziMap_insertzuZ2TZ3Hz3bbU_info",
        "_ZNSt6vectorISt4pairIiNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEESaIS7_EE9push_backEOS7_",
        "_ZZN4test4mainEvENKUlT_E_clIiEEDaS0_",
        "_ZN3FooIXadL_ZNS_3barEvEEE3bazIJidfEEEvDpT_",
        "_Z1fIiEDTcl1gfp_EET_",
        "_ZGVZN12_GLOBAL__N_11fEvE1x",
        "_ZThn16_N1A1B1CD0Ev",
        "_ZSt4moveIRSaIcEEONSt16remove_referenceIT_E4typeEOS3_",
        "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$$u7b$$u7b$closure$u7d$$u7d$$GT$17h0123456789abcdefE",
        "_RNvXs_C7mycrateNtB4_3FooINtNtC4core3fmt7DisplayE3fmt",
        "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE",
        "_RNCINvC1a1bFUKC3foomEuE0",
        "_RMC0INtC8arrayvec8ArrayVechKj7b_E",
        "$s4main7CounterC4bumpSiyFZ",
        "$s4main5helloyyFSiycfU_",
    ];

    #[test]
    fn shown_name_hostile_names_stay_bounded_and_end() {
        let grammar = b"_ZNSRIEXTDLCKVPFAJUMGQBYKvijmhcabdefst0123456789$.u{}";
        let mut noise = Noise(7);
        for round in 0..60_000 {
            let mut name = NAMES[round % NAMES.len()].as_bytes().to_vec();
            for _ in 0..=noise.below(6) {
                let at = 2 + noise.below(name.len() - 2);
                let end = at + noise.below(name.len() - at);
                match noise.below(5) {
                    0 => name[at] = grammar[noise.below(grammar.len())],
                    1 => name.insert(at, grammar[noise.below(grammar.len())]),
                    2 => drop(name.drain(at..end.min(at + 4))),
                    3 => {
                        let part = name[at..end].to_vec();
                        let to = 2 + noise.below(name.len() - 2);
                        name.splice(to..to, part);
                    }
                    _ => {
                        let part = name[at..(at + 3).min(name.len())].to_vec();
                        name.splice(at..at, part.repeat(1 + noise.below(200)));
                    }
                }
                if name.len() < 4 {
                    break;
                }
            }
            let name = String::from_utf8_lossy(&name);
            assert!(shown_name(&name).len() <= NAME_MAX, "{name}");
        }
    }

    #[test]
    fn shown_name_every_production_repeated_stays_bounded() {
        let grammar = b"NSRIEXTDLCKVPFAJUMGQBYKvijmhcabdefst0_";
        for start in [
            "_Z",
            "_ZN",
            "_R",
            "_RINvC1a1b",
            "_Z1fI",
            "_Z1f",
            "$s",
            "$s1a1fyy",
        ] {
            for &first in grammar {
                for &second in grammar {
                    let pair = [first, second];
                    let part = std::str::from_utf8(&pair).expect("ASCII");
                    let name = format!("{start}{}", part.repeat(4_000));
                    let name = name.get(..MANGLED_MAX).unwrap_or(&name);
                    assert!(shown_name(name).len() <= NAME_MAX, "{start} {part}");
                }
            }
        }
    }

    #[test]
    fn bounded_text_is_cut_at_a_character() {
        assert_eq!(bounded("abc", 3), b"abc");
        assert_eq!(bounded("äöüäöü", 8), "äö…".as_bytes());
    }
}
