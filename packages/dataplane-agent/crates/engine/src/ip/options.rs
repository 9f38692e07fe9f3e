//! Options that routers act upon: Record Route, Internet Timestamp and source routes (RFC 791 section 3.1, RFC 1812
//! sections 5.2.4.1 and 5.3.13).

use tollway_wire::ipv4::option::{LOOSE_SOURCE_ROUTE, RECORD_ROUTE, STRICT_SOURCE_ROUTE, TIMESTAMP};
use tollway_wire::options::{END, NO_OPERATION};
use tollway_wire::{field, ipv4};

const DAY_MS: i64 = 86_400_000;
/// Bytes of an address.
const ADDRESS: usize = 4;
/// Place of the first address in a Record Route or source route option, from 0.
const FIRST_ADDRESS: usize = 3;
/// Place of the first entry of a Timestamp option, from 0.
const FIRST_STAMP: usize = 4;
/// Most addresses that the options of a header hold.
const MOST_ADDRESSES: usize = 9;

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

/// The header of an IPv4 packet, with its options.
fn header_of(l3: &[u8]) -> &[u8] {
    l3.get(..usize::from(field::get8(l3, 0) & 15) * 4).unwrap_or_default()
}

/// Checks the options of an IPv4 packet as a router that forwards it does.
///
/// # Errors
/// The offset of the byte in error, from the start of the header: the pointer of a parameter problem (RFC 792).
#[cold]
pub(crate) fn check(l3: &[u8]) -> Result<(), u8> {
    let header = header_of(l3);
    let (mut at, mut source_routed) = (ipv4::HEADER, false);
    while let Some(&kind) = header.get(at) {
        match kind {
            END => break,
            NO_OPERATION => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let claimed = header.get(at + 1).map_or(0, |len| usize::from(*len));
        let Some(option) = header.get(at..at + claimed).filter(|_| claimed >= 2) else {
            return Err(at as u8);
        };
        let wrong = match kind {
            // Only one of them may be in a packet (RFC 1812 §5.2.4.1).
            LOOSE_SOURCE_ROUTE | STRICT_SOURCE_ROUTE if source_routed => Some(0),
            RECORD_ROUTE | LOOSE_SOURCE_ROUTE | STRICT_SOURCE_ROUTE => wrong_address_list(option),
            TIMESTAMP => wrong_timestamps(option),
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err((at + wrong) as u8);
        }
        source_routed |= matches!(kind, LOOSE_SOURCE_ROUTE | STRICT_SOURCE_ROUTE);
        at += claimed;
    }
    Ok(())
}

/// Place of the byte in error of a Record Route or source route option.
fn wrong_address_list(option: &[u8]) -> Option<usize> {
    if option.len() < FIRST_ADDRESS {
        return Some(1);
    }
    let pointer = usize::from(field::get8(option, 2));
    // Room, but less than for an address.
    let short = pointer <= option.len() && pointer + ADDRESS > option.len() + 1;
    (pointer <= FIRST_ADDRESS || short).then_some(2)
}

/// Place of the byte in error of a Timestamp option.
fn wrong_timestamps(option: &[u8]) -> Option<usize> {
    if option.len() < FIRST_STAMP {
        return Some(1);
    }
    let (pointer, flags) = (usize::from(field::get8(option, 2)), field::get8(option, 3));
    if pointer <= FIRST_STAMP {
        return Some(2);
    }
    let entry = entry_len(flags)?;
    if pointer > option.len() {
        // Nobody can count one more router without room.
        return (flags >> 4 == 15).then_some(3);
    }
    (pointer - 1 + entry > option.len()).then_some(2)
}

/// Bytes that a router enters into a Timestamp option with these flags; `None` for flags that RFC 791 does not define.
fn entry_len(flags: u8) -> Option<usize> {
    match flags & 15 {
        0 => Some(ADDRESS),
        1 | 3 => Some(2 * ADDRESS),
        _ => None,
    }
}

/// Fills in the options of an IPv4 packet that request it and have room. `is_local` tells whether an address is the
/// router's.
#[cold]
pub(crate) fn fill(l3: &mut [u8], entry: OptionEntry, is_local: impl Fn(u32) -> bool) {
    let header = header_of(l3).len();
    let Some(list) = l3.get_mut(ipv4::HEADER..header) else { return };
    let mut changed = false;
    for option in ipv4::options_mut(list) {
        changed |= match option.first() {
            Some(&RECORD_ROUTE) => enter(option, FIRST_ADDRESS, &entry.address.to_be_bytes()),
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
    let asked =
        usize::from(field::get8(option, 2)).checked_sub(1).and_then(|at| option.get(at..at + ADDRESS));
    let entered = match flags & 15 {
        0 => enter(option, FIRST_STAMP, &ms),
        1 => enter(option, FIRST_STAMP, &[a, b, c, d, e, f, g, h]),
        // Only if the next address that the sender has specified is the router's.
        3 => match asked.and_then(|named| named.first_chunk()).copied() {
            Some(named) if is_local(u32::from_be_bytes(named)) => {
                let [a, b, c, d] = named;
                enter(option, FIRST_STAMP, &[a, b, c, d, e, f, g, h])
            }
            Some(_) => return false,
            None => false,
        },
        _ => return false,
    };
    // The overflow counter counts routers without room, up to 15.
    if !entered && flags < 0xf0 && option.len() >= FIRST_STAMP {
        field::put(option, 3, &[flags + 0x10]);
        return true;
    }
    entered
}

/// The source route of an IPv4 packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourceRoute {
    /// Each next address must be in a connected network.
    pub strict: bool,
    /// Start of the option, from that of the header.
    start: usize,
    /// Length of the option.
    len: usize,
}

/// The source route option of a packet; `None` without one.
#[cold]
pub(crate) fn source_route(l3: &[u8]) -> Option<SourceRoute> {
    let list = header_of(l3).get(ipv4::HEADER..)?;
    let mut options = ipv4::options(list).map_while(Result::ok);
    let option = options.find(|option| matches!(option.kind, LOOSE_SOURCE_ROUTE | STRICT_SOURCE_ROUTE))?;
    let strict = option.kind == STRICT_SOURCE_ROUTE;
    Some(SourceRoute { strict, start: ipv4::HEADER + option.start, len: option.value.len() + 2 })
}

/// Takes the next address of the source route of a packet for one of the router's addresses as its destination, and
/// records in its place the address by which the packet leaves, which `leaves_by` gives for the next address. Goes on
/// while the next address is the router's too. Returns `false`, and changes nothing, without another address.
#[cold]
pub(crate) fn follow_source_route(
    l3: &mut [u8],
    route: SourceRoute,
    is_local: impl Fn(u32) -> bool,
    leaves_by: impl Fn(u32) -> Option<u32>,
) -> bool {
    let mut followed = false;
    for _ in 0..MOST_ADDRESSES {
        let own = field::get32(l3, ipv4::offset::DST);
        let Some(option) = l3.get_mut(route.start..route.start + route.len) else { break };
        let next = usize::from(field::get8(option, 2))
            .checked_sub(1)
            .filter(|at| *at >= FIRST_ADDRESS)
            .and_then(|at| option.get(at..at + ADDRESS)?.first_chunk().copied());
        let (true, Some(next)) = (is_local(own), next) else { break };
        let next = u32::from_be_bytes(next);
        followed |= enter(option, FIRST_ADDRESS, &leaves_by(next).unwrap_or(own).to_be_bytes());
        field::put(l3, ipv4::offset::DST, &next.to_be_bytes());
    }
    if followed && let Ok(mut header) = ipv4::Packet::new_checked(l3) {
        header.fill_checksum();
    }
    followed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(options: &[u8]) -> Vec<u8> {
        let mut l3 = vec![0; ipv4::HEADER + options.len().next_multiple_of(4)];
        let len = l3.len();
        field::put(&mut l3, 0, &[0x40 | (len / 4) as u8]);
        field::put(&mut l3, ipv4::offset::TOTAL_LEN, &(len as u16).to_be_bytes());
        field::put(&mut l3, ipv4::HEADER, options);
        l3
    }

    /// RFC 791 §3.1: length, pointer and overflow of each option.
    #[test]
    fn the_byte_in_error_is_named() {
        let cases: [(&[u8], Result<(), u8>); 22] = [
            (&[], Ok(())),
            (&[1, 1, 1, 0], Ok(())),
            (&[148, 4, 0, 0], Ok(())),
            (&[7, 7, 4, 0, 0, 0, 0], Ok(())),
            (&[7, 7, 8, 0, 0, 0, 0], Ok(())),
            (&[7, 7, 255, 0, 0, 0, 0], Ok(())),
            (&[7, 3, 4], Ok(())),
            (&[7, 2], Err(21)),
            (&[7, 7, 0, 0, 0, 0, 0], Err(22)),
            (&[1, 7, 7, 3, 0, 0, 0, 0], Err(23)),
            (&[7, 7, 5, 0, 0, 0, 0], Err(22)),
            (&[7, 40, 4], Err(20)),
            (&[1, 1, 1, 7], Err(23)),
            (&[68, 8, 5, 0, 0, 0, 0, 0], Ok(())),
            (&[68, 3, 5, 0], Err(21)),
            (&[68, 8, 4, 0, 0, 0, 0, 0], Err(22)),
            (&[68, 8, 5, 1, 0, 0, 0, 0], Err(22)),
            (&[68, 4, 5, 0xf0], Err(23)),
            (&[68, 4, 5, 0xe1], Ok(())),
            (&[68, 4, 5, 0xf2], Ok(())),
            (&[131, 7, 4, 0, 0, 0, 0, 1, 137, 7, 4, 0, 0, 0, 0], Err(28)),
            (&[137, 7, 6, 0, 0, 0, 0], Err(22)),
        ];
        for (options, expected) in cases {
            assert_eq!(check(&packet(options)), expected, "{options:?}");
        }
    }

    #[test]
    fn a_source_route_is_followed_over_all_addresses_of_the_router() {
        let mut l3 = packet(&[1, 131, 15, 4, 10, 0, 0, 2, 10, 0, 0, 3, 10, 0, 0, 4]);
        field::put(&mut l3, ipv4::offset::DST, &[10, 0, 0, 1]);
        let route = source_route(&l3).unwrap();
        assert!(!route.strict);
        let is_local = |address: u32| address == 0x0a00_0001 || address == 0x0a00_0002;
        assert!(follow_source_route(&mut l3, route, is_local, |next| Some(next | 0xff00)));
        assert_eq!(l3[ipv4::offset::DST..ipv4::HEADER], [10, 0, 0, 3]);
        assert_eq!(l3[ipv4::HEADER..], [1, 131, 15, 12, 10, 0, 255, 2, 10, 0, 255, 3, 10, 0, 0, 4]);
        assert!(ipv4::Packet::new_checked(&l3[..]).unwrap().verify_checksum());
        // The destination is not the router's now.
        assert!(!follow_source_route(&mut l3, route, is_local, Some));
        let mut used = packet(&[137, 7, 8, 10, 0, 0, 2]);
        let route = source_route(&used).unwrap();
        assert!(route.strict);
        assert!(!follow_source_route(&mut used, route, |_| true, Some));
    }
}
