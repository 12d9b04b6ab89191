//! Places of functions and probes, as the helper process tells them.

use super::wire::*;
use crate::TEXT_MAX;
use crate::found::{Argument, ArgumentPlace, FoundSite};

fn put_site(out: &mut Vec<u8>, site: &FoundSite) {
    let flags = [site.entry, site.nop5, site.go, site.argument.is_some()];
    let flag = |(bit, set): (usize, bool)| u8::from(set) << bit;
    out.push(flags.into_iter().enumerate().map(flag).sum());
    out.extend(site.offset.to_le_bytes());
    out.extend(site.semaphore.to_le_bytes());
    put_text(out, &site.name, PATTERN_MAX);
    put_text(out, &site.details, TEXT_MAX);
    let Some(argument) = &site.argument else {
        return;
    };
    let (kind, register, index, value) = match argument.place {
        ArgumentPlace::Constant(value) => (0, 0, None, value),
        ArgumentPlace::Register(register) => (1, register, None, 0),
        ArgumentPlace::Memory(register, value, index) => (2, register, index, value),
    };
    let (index, shift) = index.unwrap_or((NONE, 0));
    let signed = u8::from(argument.signed);
    out.extend([kind, argument.bytes, signed, register, index, shift]);
    out.extend(value.to_le_bytes());
}

/// Takes a site off the front of a message.
pub fn site(reader: &mut Reader<'_>) -> Option<FoundSite> {
    let flags = reader.u8()?;
    let flag = |bit: u8| flags & 1 << bit != 0;
    if flags >> 4 != 0 {
        return None;
    }
    Some(FoundSite {
        entry: flag(0),
        nop5: flag(1),
        go: flag(2),
        offset: reader.u64()?,
        semaphore: reader.u64()?,
        name: reader.text(PATTERN_MAX)?,
        details: reader.text(TEXT_MAX)?,
        argument: match flag(3) {
            true => Some(argument(reader)?),
            false => None,
        },
    })
}

fn argument(reader: &mut Reader<'_>) -> Option<Argument> {
    let [kind, bytes, signed, register, index, shift] = reader.array()?;
    let value = i64::from_le_bytes(reader.array()?);
    let index = match (index, shift) {
        (NONE, 0) => None,
        (NONE, _) => return None,
        pair => Some(pair),
    };
    let place = match (kind, register, index, value) {
        (0, 0, None, value) => ArgumentPlace::Constant(value),
        (1, register, None, 0) => ArgumentPlace::Register(register),
        (2, register, index, value) => ArgumentPlace::Memory(register, value, index),
        _ => return None,
    };
    let fits = [1, 2, 4, 8].contains(&bytes) && signed <= 1 && shift <= 3;
    fits.then_some(Argument {
        place,
        bytes,
        signed: signed == 1,
    })
}

/// As many messages as the sites take.
pub fn sites_messages(sites: &[FoundSite]) -> Vec<Vec<u8>> {
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let mut count = 0u16;
    for site in sites {
        let mut bytes = Vec::new();
        put_site(&mut bytes, site);
        let full = |message: &Vec<u8>| message.len() + bytes.len() > MESSAGE_MAX;
        if messages.last().is_none_or(full) {
            messages.push(vec![13, 0, 0, 0]);
            count = 0;
        }
        count += 1;
        if let Some(message) = messages.last_mut() {
            message[2..4].copy_from_slice(&count.to_le_bytes());
            message.extend(bytes);
        }
    }
    messages
}
