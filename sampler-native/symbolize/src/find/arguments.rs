//! The arguments of USDT probes, as the assembler wrote them: `-4@%edi 8@-16(%rbp) 8@$5 4@(%rax,%rcx,4)`.

use super::{Argument, ArgumentPlace};

/// Registers in the order of the kernel's `struct pt_regs`, without those that no argument is in.
const REGISTERS: [(&str, u8); 16] = [
    ("r15", 0),
    ("r14", 1),
    ("r13", 2),
    ("r12", 3),
    ("bp", 4),
    ("bx", 5),
    ("r11", 6),
    ("r10", 7),
    ("r9", 8),
    ("r8", 9),
    ("ax", 10),
    ("cx", 11),
    ("dx", 12),
    ("si", 13),
    ("di", 14),
    ("sp", 19),
];

/// The argument that a text describes; none: it is in no place that can be read when the probe is hit, such as a register for floating point.
pub fn parse(text: &str) -> Option<Argument> {
    let (size, place) = text.split_once('@')?;
    let (signed, bytes) = match size.strip_prefix('-') {
        Some(bytes) => (true, bytes),
        None => (false, size),
    };
    let bytes = bytes.parse().ok()?;
    [1, 2, 4, 8].contains(&bytes).then_some(Argument {
        place: self::place(place)?,
        bytes,
        signed,
    })
}

fn place(text: &str) -> Option<ArgumentPlace> {
    if let Some(constant) = text.strip_prefix('$') {
        return number(constant).map(ArgumentPlace::Constant);
    }
    if text.starts_with('%') {
        return register(text).map(ArgumentPlace::Register);
    }
    let (offset, address) = text.strip_suffix(')')?.split_once('(')?;
    let offset = match offset {
        "" => 0,
        offset => number(offset)?,
    };
    let mut parts = address.split(',').map(str::trim);
    let base = register(parts.next()?)?;
    let index = match parts.next() {
        None => None,
        Some(index) => {
            let shift = match parts.next() {
                None | Some("1") => 0,
                Some("2") => 1,
                Some("4") => 2,
                Some("8") => 3,
                Some(_) => return None,
            };
            Some((register(index)?, shift))
        }
    };
    parts
        .next()
        .is_none()
        .then_some(ArgumentPlace::Memory(base, offset, index))
}

fn number(text: &str) -> Option<i64> {
    let (below, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    let number = number as i64;
    Some(if below { number.wrapping_neg() } else { number })
}

/// `%rdi`, `%edi`, `%di`, `%dil`, `%r8`, `%r8d`, `%r8w`, `%r8b`; the second byte of a register, as `%ah`, is no argument that is understood.
fn register(text: &str) -> Option<u8> {
    let name = text.strip_prefix('%')?;
    let known = |wanted: &str| {
        let found = REGISTERS.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, word)| *word)
    };
    let numbered = name.starts_with('r') && name[1..].starts_with(|c: char| c.is_ascii_digit());
    if numbered {
        return known(name.trim_end_matches(['d', 'w', 'b']));
    }
    if let Some(whole) = known(name) {
        return Some(whole);
    }
    if let Some(wide) = name.strip_prefix(['r', 'e']) {
        return known(wide);
    }
    // `al`, `bl`; `sil`, `bpl`.
    let low = name.strip_suffix('l')?;
    known(low).or_else(|| known(&format!("{low}x")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_all_shapes_are_read() {
        use ArgumentPlace::{Constant, Memory, Register};
        for (text, bytes, signed, place) in [
            ("-8@%rdi", 8, true, Register(14)),
            ("4@%esi", 4, false, Register(13)),
            ("-1@%al", 1, true, Register(10)),
            ("1@%sil", 1, false, Register(13)),
            ("2@%r10w", 2, false, Register(7)),
            ("8@%r15", 8, false, Register(0)),
            ("4@%r8d", 4, false, Register(9)),
            ("8@$5", 8, false, Constant(5)),
            ("-4@$-7", 4, true, Constant(-7)),
            ("8@$0x10", 8, false, Constant(16)),
            ("-4@-20(%rbp)", 4, true, Memory(4, -20, None)),
            ("8@(%rax)", 8, false, Memory(10, 0, None)),
            ("8@16(%rsp)", 8, false, Memory(19, 16, None)),
            ("4@8(%rax,%rcx,4)", 4, false, Memory(10, 8, Some((11, 2)))),
            ("4@(%rax,%r9)", 4, false, Memory(10, 0, Some((8, 0)))),
        ] {
            let read = Argument {
                place,
                bytes,
                signed,
            };
            assert_eq!(parse(text), Some(read), "{text}");
        }
    }

    #[test]
    fn arguments_that_cannot_be_read_are_none() {
        for text in [
            "",
            "@",
            "8@",
            "%rdi",
            "@%rdi",
            "3@%rdi",
            "8f@%xmm0",
            "8@%xmm0",
            "8@%ah",
            "8@%rip",
            "8@counter(%rip)",
            "4@counter",
            "8@(%rax,%rcx,3)",
            "8@(%rax,%rcx,4,1)",
            "8@()",
            "8@$",
            "8@$x",
            "8@+5(%rax)",
            "-8@%r16",
            "-@%rax",
            "8@%é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
