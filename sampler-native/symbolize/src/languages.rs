//! Names as the compilers of D, Haskell, OCaml and Swift write them into symbols. What does not fit a
//! grammar exactly is no such name and is left as it is: C functions may be called anything.

use symbolic_common::{Language, Name, NameMangling};
use symbolic_demangle::{Demangle, DemangleOptions};

/// Longest part of a D name that a reference may lead back to is found by so many digits.
const DIGITS_MAX: usize = 4;

/// The name that `symbol` stands for, if it is one of these languages'.
pub fn plain(symbol: &str) -> Option<String> {
    ocaml(symbol)
        .or_else(|| d(symbol))
        .or_else(|| haskell(symbol))
        .or_else(|| swift(symbol))
}

/// `$s3app7CounterC4bumpSiyF` is `Counter.bump`: without module, types of arguments and result.
fn swift(symbol: &str) -> Option<String> {
    if !["$s", "$S", "_T0"]
        .iter()
        .any(|mark| symbol.starts_with(mark))
    {
        return None;
    }
    let name = Name::new(symbol, NameMangling::Mangled, Language::Swift);
    name.demangle(DemangleOptions::name_only())
        .filter(|plain| plain != symbol)
}

fn begins_upper(text: &str) -> bool {
    text.bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_uppercase())
}

/// `camlStdlib__List__map_123` (to 5.0), `camlStdlib__List.map_123` and `camlStdlib__List$map_123`
/// (from 5.1 on, by the system) are `Stdlib.List.map_123`. The number tells functions of one name
/// apart, so it stays.
fn ocaml(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("caml")?;
    let mut name = String::new();
    let mut escape = "$";
    while begins_upper(rest) {
        let of_name = |at: usize| match rest.as_bytes()[at] {
            b'_' => rest.as_bytes().get(at + 1) != Some(&b'_'),
            byte => byte.is_ascii_alphanumeric() || byte == b'\'',
        };
        let end = (0..rest.len()).find(|at| !of_name(*at))?;
        let (module, after) = rest.split_at(end);
        name.push_str(module);
        name.push('.');
        rest = if let Some(after) = after.strip_prefix("__") {
            after
        } else if let Some(after) = after.strip_prefix('$') {
            escape = "$$";
            after
        } else {
            after.strip_prefix('.')?
        };
    }
    let (function, number) = match rest {
        "entry" | "code_begin" | "code_end" => (rest, None),
        _ => rest
            .rsplit_once('_')
            .map(|(function, number)| (function, Some(number)))?,
    };
    let numbered = |number: &str| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    if name.is_empty() || function.is_empty() || !number.is_none_or(numbered) {
        return None;
    }
    // Operators are written by the numbers of their characters: `$2b` is `+`.
    let mut parts = function.split(escape);
    name.push_str(parts.next()?);
    for part in parts {
        let code = u8::from_str_radix(part.get(..2)?, 16).ok()?;
        if !code.is_ascii_graphic() {
            return None;
        }
        name.push(char::from(code));
        name.push_str(&part[2..]);
    }
    name.extend(number.map(|number| format!("_{number}")));
    Some(name)
}

/// `_D3std5stdio7writelnFAyaZv` is `std.stdio.writeln`. Where a template without a length begins,
/// whose arguments have no end that can be seen from outside, the rest stays as it is.
fn d(symbol: &str) -> Option<String> {
    if symbol == "_Dmain" {
        return Some("D main".into());
    }
    let mut at = 2;
    let mut name = String::new();
    symbol.strip_prefix("_D")?;
    loop {
        let (part, after) = match symbol.as_bytes().get(at)? {
            b'0'..=b'9' => d_part(symbol, at)?,
            b'Q' => {
                let (back, after) = d_reference(symbol, at)?;
                (d_part(symbol, back)?.0, after)
            }
            b'_' if symbol[at..].starts_with("__T") || symbol[at..].starts_with("__U") => {
                let (template, after) = d_part(symbol, at + 3)?;
                if !name.is_empty() {
                    name.push('.');
                }
                name.push_str(template);
                name.push('!');
                name.push_str(&symbol[after..]);
                return Some(name);
            }
            _ => break,
        };
        if !name.is_empty() {
            name.push('.');
        }
        match part
            .strip_prefix("__T")
            .or_else(|| part.strip_prefix("__U"))
        {
            Some(template) => {
                let (known, arguments) = d_part(template, 0)?;
                name.push_str(known);
                name.push('!');
                name.push_str(&template[arguments..]);
            }
            None => name.push_str(part),
        }
        at = after;
    }
    (!name.is_empty()).then_some(name)
}

/// A number and so many characters, from `at` on, and where they end.
fn d_part(symbol: &str, at: usize) -> Option<(&str, usize)> {
    let rest = symbol.get(at..)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > DIGITS_MAX {
        return None;
    }
    let length: usize = rest[..digits].parse().ok()?;
    let part = rest.get(digits..digits.checked_add(length)?)?;
    let word = |c: char| c == '_' || c.is_alphanumeric();
    (length > 0 && part.chars().all(word)).then_some((part, at + digits + length))
}

/// Where the reference at `at` leads back to, and where it ends: a number of base 26, whose last
/// digit is a small letter.
fn d_reference(symbol: &str, at: usize) -> Option<(usize, usize)> {
    let mut distance = 0;
    for (i, byte) in symbol.bytes().enumerate().skip(at + 1).take(DIGITS_MAX) {
        match byte {
            b'A'..=b'Z' => distance = distance * 26 + usize::from(byte - b'A'),
            b'a'..=b'z' => {
                distance = distance * 26 + usize::from(byte - b'a');
                let back = at.checked_sub(distance).filter(|_| distance > 0)?;
                return Some((back, i + 1));
            }
            _ => return None,
        }
    }
    None
}

/// `base_GHCziBase_zpzp_info` is `GHC.Base.++`: package, module, name, each Z-encoded, and what of
/// the function it is. One is only believed that has a code where none is by chance.
fn haskell(symbol: &str) -> Option<String> {
    let body = ["_info", "_entry", "_fast", "_slow"]
        .iter()
        .find_map(|end| symbol.strip_suffix(end))?;
    let parts: Vec<&str> = body.split('_').collect();
    let (package, module, rest) = match parts.as_slice() {
        [module, rest @ ..] if begins_upper(module) => ("", *module, rest),
        [package, module, rest @ ..] if begins_upper(module) => (*package, *module, rest),
        _ => return None,
    };
    let first = *rest.first()?;
    let dotted = module.split("zi").skip(1).any(begins_upper);
    if !dotted && !package.contains("zm") && !first.starts_with("zd") {
        return None;
    }
    let mut name = unzipped(module)?;
    unzipped(package)?;
    for (i, part) in rest.iter().enumerate() {
        name.push(if i == 0 { '.' } else { '_' });
        name.push_str(&unzipped(part)?);
    }
    Some(name)
}

/// Z-encoded text as it was.
fn unzipped(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != 'z' && c != 'Z' {
            if !c.is_ascii_alphanumeric() {
                return None;
            }
            out.push(c);
            continue;
        }
        let code = rest.next()?;
        if code.is_ascii_digit() {
            let mut digits = String::from(code);
            let end = loop {
                match rest.next()? {
                    digit if digit.is_ascii_hexdigit() && digits.len() < 6 => digits.push(digit),
                    end => break end,
                }
            };
            let commas = |digits: &str| -> Option<String> {
                let count: usize = digits.parse().ok().filter(|count| *count <= 64)?;
                Some(",".repeat(count.saturating_sub(1)))
            };
            match (c, end) {
                ('Z', 'T') => out.push_str(&format!("({})", commas(&digits)?)),
                ('Z', 'H') => out.push_str(&format!("(#{}#)", commas(&digits)?)),
                ('z', 'U') => {
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                _ => return None,
            }
            continue;
        }
        out.push(match (c, code) {
            ('z', 'z') => 'z',
            ('z', 'a') => '&',
            ('z', 'b') => '|',
            ('z', 'c') => '^',
            ('z', 'd') => '$',
            ('z', 'e') => '=',
            ('z', 'g') => '>',
            ('z', 'h') => '#',
            ('z', 'i') => '.',
            ('z', 'l') => '<',
            ('z', 'm') => '-',
            ('z', 'n') => '!',
            ('z', 'p') => '+',
            ('z', 'q') => '\'',
            ('z', 'r') => '\\',
            ('z', 's') => '/',
            ('z', 't') => '*',
            ('z', 'u') => '_',
            ('z', 'v') => '%',
            ('Z', 'Z') => 'Z',
            ('Z', 'L') => '(',
            ('Z', 'R') => ')',
            ('Z', 'M') => '[',
            ('Z', 'N') => ']',
            ('Z', 'C') => ':',
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(known: &[(&str, &str)]) {
        for (symbol, name) in known {
            assert_eq!(plain(symbol).as_deref(), Some(*name), "{symbol}");
        }
    }

    #[test]
    fn plain_ocaml_names_of_all_versions_have_their_modules() {
        all(&[
            ("camlModule__fun_123", "Module.fun_123"),
            ("camlStdlib__List__map_123", "Stdlib.List.map_123"),
            ("camlStdlib__List__fold_left_7", "Stdlib.List.fold_left_7"),
            ("camlDune__exe__Main__$2b$2e_12", "Dune.exe__Main__+._12"),
            ("camlFoo__entry", "Foo.entry"),
            ("camlStdlib__List.map_123", "Stdlib.List.map_123"),
            ("camlModule.fun_1", "Module.fun_1"),
            ("camlModule$fun_1", "Module.fun_1"),
            ("camlLib__Deep$add_12", "Lib.Deep.add_12"),
            ("camlModule$$$2b_1", "Module.+_1"),
            ("camlMy_module__f_1", "My_module.f_1"),
        ]);
    }

    #[test]
    fn plain_d_names_have_their_modules() {
        all(&[
            ("_Dmain", "D main"),
            ("_D3std5stdio7writelnFAyaZv", "std.stdio.writeln"),
            ("_D4core6memory2GC7collectFNbZv", "core.memory.GC.collect"),
            // The same identifier again, by a reference back to it.
            ("_D3app3fooQeFZv", "app.foo.foo"),
            ("_D3app14__T3fooTiTAyaZ3fooFZv", "app.foo!TiTAyaZ.foo"),
            ("_D3app__T3fooTiZQhFZv", "app.foo!TiZQhFZv"),
        ]);
    }

    #[test]
    fn plain_haskell_names_are_unzipped() {
        all(&[
            ("base_GHCziBase_zpzp_info", "GHC.Base.++"),
            ("base_GHCziBase_map_info", "GHC.Base.map"),
            ("ghczmprim_GHCziTypes_ZC_con_info", "GHC.Types.:_con"),
            (
                "ghczmprim_GHCziTupleziPrim_Z2T_con_info",
                "GHC.Tuple.Prim.(,)_con",
            ),
            (
                "containerszm0zi6zi7_DataziMapziInternal_insertzuzdsgo1_info",
                "Data.Map.Internal.insert_$sgo1",
            ),
            ("Main_zdwfib_info", "Main.$wfib"),
            ("base_GHCziUnicode_z3bbU_entry", "GHC.Unicode.\u{3bb}"),
        ]);
    }

    #[test]
    fn plain_swift_names_are_those_of_the_functions() {
        all(&[
            ("$s4main5helloyyF", "hello"),
            ("$s4main7CounterC4bumpSiyFZ", "static Counter.bump"),
            ("$s4main3FooV1xSivg", "Foo.x.getter"),
            ("$s4main5helloyyFSiycfU_", "closure #1 in hello"),
            ("$sSS6appendyySSF", "String.append"),
        ]);
    }

    #[test]
    fn plain_names_of_c_stay() {
        for symbol in [
            "caml_alloc_small",
            "caml_main",
            "camlizer",
            "camlBuild",
            "camlBuild_1x",
            "CamlFoo__bar_1",
            "GC_get_info",
            "Module_get_info",
            "size_info",
            "resize_Image_info",
            "_info",
            "$s",
            "$save",
            "_T0",
            "_Data_entry",
            "_D",
            "_D3",
            "_D0Z",
            "_D9999abc",
            "_DYNAMIC",
            "_D3fo",
            "_D3a.bFZv",
            "_D1aQaZ",
            "z_info",
            "",
        ] {
            assert_eq!(plain(symbol), None, "{symbol}");
        }
    }
}
