# SPDX-License-Identifier: Apache-2.0
"""Programs whose files are made to keep whoever reads them busy. Each is a path of a program that takes the words of
programs/hostile.c or none at all.
"""
import lzma
import os
import struct
import subprocess

SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMTAB, STRTAB = 2, 3


def compile_c(source, target, *options):
    subprocess.run(["cc", "-O2", "-pthread", *options, "-o", target, *source], check=True)
    return target


def stripped(source, work, count):
    """Programs without symbols, each with a build id of its own."""
    paths = [os.path.join(work, f"stripped-{i}") for i in range(count)]
    return [compile_c([source], path, f"-Wl,--build-id=0xfade{i:036x}", "-s") for i, path in enumerate(paths)]


def packed_bomb(work, gigabytes):
    """Zeros, as xz packs them: a stream of 64 MiB, over and over."""
    one = lzma.compress(bytes(64 << 20), preset=0)
    path = os.path.join(work, "packed")
    with open(path, "wb") as file:
        for _ in range(gigabytes * 16):
            file.write(one)
    return path


def packed(source, work, count):
    """Programs without symbols but for a bomb in the place of packed ones."""
    bomb = packed_bomb(work, 4)
    programs = []
    for i in range(count):
        program = compile_c([source], os.path.join(work, f"packed-{i}"), f"-Wl,--build-id=0x{i + 1:040x}")
        options = ["--strip-all", "--add-section", f".gnu_debugdata={bomb}"]
        subprocess.run(["objcopy", *options, program], check=True)
        programs.append(program)
    return programs


def with_symbols(source, work, millions):
    """A program with so many symbols, a million of which have a name of their own."""
    program = compile_c([source], os.path.join(work, "symbols"), "-Wl,--build-id=0x" + 40 * "5", "-s")
    with open(program, "rb") as file:
        head = bytearray(file.read())
    table, count, names_at = *struct.unpack_from("<Q", head, 40), *struct.unpack_from("<HH", head, 60)
    sections = [list(SECTION.unpack_from(head, table + 64 * i)) for i in range(count)]
    names = bytearray(head[sections[names_at][4] :][: sections[names_at][5]])
    text = next(s for s in sections if names[s[0] :].startswith(b".text\0"))
    with open(program, "r+b") as file:
        file.seek(0, os.SEEK_END)

        def add(name, kind, link, entry, chunks):
            file.write(bytes(-file.tell() % 8))
            at = file.tell()
            for chunk in chunks:
                file.write(chunk)
            sections.append([len(names), kind, 0, 0, at, file.tell() - at, link, 1, 8, entry])
            names.extend(name + b"\0")

        def symbols():
            yield bytes(24)
            for _ in range(millions):
                block = (SYMBOL.pack(1 + 9 * i, 2, 0, 14, text[3] + i % text[5], 1) for i in range(1000000))
                yield b"".join(block)

        add(b".symtab", SYMTAB, len(sections) + 1, 24, symbols())
        add(b".strtab", STRTAB, 0, 0, [b"\0", b"".join(b"s%07d\0" % i for i in range(1000000))])
        names.extend(b".shstrtab\0")
        sections[names_at][0] = len(names) - 10
        sections[names_at][4:6] = [file.tell(), len(names)]
        file.write(names)
        file.write(bytes(-file.tell() % 8))
        struct.pack_into("<Q", head, 40, file.tell())
        struct.pack_into("<H", head, 60, len(sections))
        for section in sections:
            file.write(SECTION.pack(*section))
        file.seek(0)
        file.write(head[:64])
    return program


DEEP = """
#include <time.h>
void f0(void);
static volatile unsigned long sink;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 200000; i++) sink += i; }
int main(void)
{
	struct timespec rest = { .tv_nsec = 5000000 };
	for (;;) { f0(); nanosleep(&rest, 0); }
}
"""


def unwind_bomb(work, count, frames=500, common=120000, own=2000):
    """Programs of so many frames, whose unwind information begins with `common` instructions for each function and goes on with
    `own` of its own before it says anything."""
    nonsense = "\t.fill {}, 2, 0x0b0a\n"  # remember and restore
    lines = ["\t.text\n"]
    table = ['\t.section .eh_frame,"a",@progbits\n']
    table.append("common: .long common_end - common_start\ncommon_start: .long 0\n\t.byte 1\n\t.asciz \"zR\"\n")
    table.append("\t.uleb128 1\n\t.sleb128 -8\n\t.byte 16\n\t.uleb128 1\n\t.byte 0x1b, 0x0c, 7, 8, 0x90, 1\n")
    table.append(nonsense.format(common) + "\t.balign 8\ncommon_end:\n")
    for i in range(frames):
        callee = f"f{i + 1}" if i + 1 < frames else "leaf"
        lines.append(f"\t.globl f{i}\nf{i}: sub $8, %rsp\n\tcall {callee}\n\tadd $8, %rsp\n\tret\nf{i}_end:\n")
        table.append(f"own{i}: .long own{i}_end - own{i}_start\nown{i}_start: .long own{i}_start - common\n")
        table.append(f"\t.long f{i} - .\n\t.long f{i}_end - f{i}\n\t.uleb128 0\n")
        table.append(nonsense.format(own) + f"\t.byte 0x44, 0x0e, 16\n\t.balign 8\nown{i}_end:\n")
    assembly, main = os.path.join(work, "deep.s"), os.path.join(work, "deep.c")
    with open(assembly, "w") as file:
        file.writelines(lines + table + ['\t.section .note.GNU-stack,"",@progbits\n'])
    with open(main, "w") as file:
        file.write(DEEP)
    first = compile_c([main, assembly], os.path.join(work, "deep-0"))
    programs = [first]
    for i in range(1, count):
        programs.append(os.path.join(work, f"deep-{i}"))
        subprocess.run(["cp", first, programs[-1]], check=True)
    return programs
