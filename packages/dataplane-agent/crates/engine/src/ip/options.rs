//! Options that routers fill in: Record Route and Internet Timestamp (RFC 791 section 3.1, RFC 1812 section 5.3.13).

use tollway_wire::ipv4::option::{RECORD_ROUTE, TIMESTAMP};
use tollway_wire::{field, ipv4};

const DAY_MS: i64 = 86_400_000;

/// The data that a router enters into options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OptionEntry {
    /// Address that the packet leaves by.
    pub address: u32,
    /// Milliseconds since midnight UTC.
    pub midnight_ms: u32,
}

impl OptionEntry {
    /// At a wall clock, ns since 1970 UTC.
    pub fn at(address: u32, utc_ns: i64) -> Self {
        let midnight_ms = (utc_ns / 1_000_000).rem_euclid(DAY_MS);
        Self { address, midnight_ms: u32::try_from(midnight_ms).unwrap_or(0) }
    }
}

/// Fills in the options of an IPv4 packet that request it and have room. `is_local` tells whether an address is the
/// router's.
#[cold]
pub(crate) fn fill(l3: &mut [u8], entry: OptionEntry, is_local: impl Fn(u32) -> bool) {
    let header = usize::from(field::get8(l3, 0) & 15) * 4;
    let Some(list) = l3.get_mut(ipv4::HEADER..header) else { return };
    let mut changed = false;
    for option in ipv4::options_mut(list) {
        changed |= match option.first() {
            Some(&RECORD_ROUTE) => enter(option, 3, &entry.address.to_be_bytes()),
            Some(&TIMESTAMP) => stamp(option, entry, &is_local),
            _ => false,
        };
    }
    if changed && let Ok(mut header) = ipv4::Packet::new_checked(l3) {
        header.fill_checksum();
    }
}

/// Writes a value at the pointer of the option, which is its third byte and counts from 1, and advances the pointer.
/// Returns `false` if there is no room.
fn enter(option: &mut [u8], first: usize, value: &[u8]) -> bool {
    let pointer = field::get8(option, 2);
    let Some(at) = usize::from(pointer).checked_sub(1).filter(|at| *at >= first) else { return false };
    let Some(cell) = option.get_mut(at..at + value.len()) else { return false };
    cell.copy_from_slice(value);
    field::put(option, 2, &[pointer.saturating_add(value.len() as u8)]);
    true
}

fn stamp(option: &mut [u8], entry: OptionEntry, is_local: &impl Fn(u32) -> bool) -> bool {
    let OptionEntry { address, midnight_ms } = entry;
    let ms = midnight_ms.to_be_bytes();
    let [a, b, c, d] = address.to_be_bytes();
    let [e, f, g, h] = ms;
    let flags = field::get8(option, 3);
    let asked = usize::from(field::get8(option, 2)).checked_sub(1).and_then(|at| option.get(at..at + 4));
    let entered = match flags & 15 {
        0 => enter(option, 4, &ms),
        1 => enter(option, 4, &[a, b, c, d, e, f, g, h]),
        // Only if the next address that the sender has specified is the router's.
        3 => match asked.and_then(|named| named.first_chunk()).copied() {
            Some(named) if is_local(u32::from_be_bytes(named)) => {
                let [a, b, c, d] = named;
                enter(option, 4, &[a, b, c, d, e, f, g, h])
            }
            Some(_) => return false,
            None => false,
        },
        _ => return false,
    };
    // The overflow counter counts routers without room, up to 15.
    if !entered && flags < 0xf0 && option.len() > 3 {
        field::put(option, 3, &[flags + 0x10]);
        return true;
    }
    entered
}
