//! USDT probes as sources. libbpf finds the sites and the arguments in the notes of the file, and counts the semaphores up.

use std::fs::File;

use anyhow::{Result, anyhow, bail, ensure};
use object::{
    Endianness, Object, ObjectSection, ObjectSegment, ReadCache, ReadRef, read::elf::ElfFile64,
};

use super::{Hook, Source, SourceSpec};

/// Attaches to all sites of the probe.
pub fn attach(processes: &[u32], source: &mut Source) -> Result<()> {
    let Hook::Usdt {
        file,
        provider,
        name,
    } = &source.spec.hook
    else {
        bail!("not a USDT probe");
    };
    let everybody = [-1];
    let processes: Vec<i32> = processes.iter().map(|pid| *pid as i32).collect();
    let processes = match processes.is_empty() {
        true => &everybody[..],
        false => &processes,
    };
    let mut links = Vec::new();
    for pid in processes {
        let link = source
            .skel
            .progs
            .hit_usdt
            .attach_usdt(*pid, file, provider, name)
            .map_err(|error| match error.kind() {
                libbpf_rs::ErrorKind::NotFound => anyhow!(
                    "{} has no probe {provider}:{name}; flametop events lists those there are",
                    file.display()
                ),
                libbpf_rs::ErrorKind::PermissionDenied => anyhow!(
                    "the kernel does not permit to probe {}; run it as root (sudo), in a container add CAP_BPF and CAP_PERFMON",
                    file.display()
                ),
                _ => anyhow::Error::from(error)
                    .context(format!("{provider}:{name} of {} cannot be probed", file.display())),
            })?;
        links.push(link);
    }
    links.into_iter().for_each(|link| source.keep(link));
    Ok(())
}

/// What stands at a site to whose second instruction libbpf attaches, where the kernel can make that one a call.
const NOP_NOP5: [u8; 6] = [0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00];

/// The section of the file that tells of probes, and the name in front of each.
const NOTES: &str = ".note.stapsdt";
const OWNER: &[u8] = b"stapsdt\0";
/// The section whose address says by how much the file was moved after it was linked.
const BASE: &str = ".stapsdt.base";

/// Refuses sites that the kernel would harm: see `function.rs`. A probe may be anywhere in a function.
pub fn check_sites(spec: &SourceSpec) -> Result<()> {
    let Hook::Usdt {
        file,
        provider,
        name,
    } = &spec.hook
    else {
        return Ok(());
    };
    let open = File::open(file).map_err(|e| anyhow!("{} cannot be read: {e}", file.display()))?;
    let bytes = ReadCache::new(open);
    let Ok(elf) = ElfFile64::<Endianness, _>::parse(&bytes) else {
        bail!("{} is no 64-bit ELF file", file.display());
    };
    let sites = sites(&elf, provider.as_bytes(), name.as_bytes());
    ensure!(
        !sites.is_empty(),
        "{} has no probe {provider}:{name}; flametop events lists those there are",
        file.display()
    );
    for site in sites {
        let code = bytes.read_bytes_at(site, NOP_NOP5.len() as u64);
        ensure!(
            code != Ok(&NOP_NOP5),
            "{provider}:{name} of {} stands at a five-byte nop, {site:#x}: this kernel may overwrite memory of the function around it; \
             build the program with the sys/sdt.h of SystemTap, whose probes stand at one byte",
            file.display()
        );
    }
    Ok(())
}

/// Offsets in the file of all sites of a probe.
fn sites<'a>(
    elf: &ElfFile64<'a, Endianness, impl ReadRef<'a>>,
    provider: &[u8],
    name: &[u8],
) -> Vec<u64> {
    let notes = elf.section_by_name(NOTES);
    let notes = notes.and_then(|section| section.uncompressed_data().ok());
    let base = elf.section_by_name(BASE).map(|section| section.address());
    let mut sites = Vec::new();
    for [site, linked] in of_probe(notes.as_deref().unwrap_or_default(), provider, name) {
        let moved = base.map_or(0, |base| base.wrapping_sub(linked));
        let address = site.wrapping_add(moved);
        let segment = elf
            .segments()
            .find(|segment| address.wrapping_sub(segment.address()) < segment.size());
        sites.extend(segment.map(|s| address - s.address() + s.file_range().0));
    }
    sites
}

/// Addresses of the sites of a probe and of the base, as they were linked.
fn of_probe(mut notes: &[u8], provider: &[u8], name: &[u8]) -> Vec<[u64; 2]> {
    let mut found = Vec::new();
    let take = |notes: &mut &'_ [u8], bytes: usize| -> Option<Vec<u8>> {
        let (front, rest) = notes.split_at_checked(bytes)?;
        let padding = bytes.next_multiple_of(4) - bytes;
        let front = front.to_vec();
        *notes = rest.get(padding..).unwrap_or_default();
        Some(front)
    };
    let word = |bytes: &[u8], at: usize| -> Option<u64> {
        let bytes = bytes.get(at..at + 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    while let Some(head) = take(&mut notes, 12) {
        let size = |at: usize| {
            let bytes = head[at..at + 4].try_into().unwrap_or_default();
            u32::from_le_bytes(bytes) as usize
        };
        let (Some(owner), Some(body)) = (take(&mut notes, size(0)), take(&mut notes, size(4)))
        else {
            break;
        };
        let names = body.get(24..).unwrap_or_default();
        let mut names = names.split(|byte| *byte == 0);
        if owner == OWNER
            && names.next() == Some(provider)
            && names.next() == Some(name)
            && let (Some(site), Some(base)) = (word(&body, 0), word(&body, 8))
        {
            found.push([site, base]);
        }
    }
    found
}
