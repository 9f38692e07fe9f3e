//! Reassembly of ICMP errors that come in fragments (RFC 791 §3.2, RFC 8200 §4.5): which connection one is about stands in
//! its first fragment alone, and its checksum covers the quoted headers that a translation changes. Fragments of all other
//! datagrams are forwarded one by one.

use tollway_wire::extension::{FRAGMENT_HEADER, walk};
use tollway_wire::{field, ipv4, ipv6};

use crate::packet::frame::{CONTIGUOUS, Frame, FrameSource, VnetState};
use crate::packet::{Meta, Packet, flag};
use crate::pipeline::fragment_header::fragment_of;

/// Makes the datagram of all its fragments. `None` if they do not fit into a frame, or if there is none.
pub(crate) fn reassemble<F: Frame, S: FrameSource<F>>(
    fragments: &[&Packet<F>],
    source: &mut S,
) -> Option<Packet<F>> {
    let first = fragments.iter().find(|fragment| !fragment.meta.is(flag::LATER_FRAGMENT))?;
    let (l3, l4) = (usize::from(first.meta.l3), usize::from(first.meta.l4));
    // The fragment header goes; those before it are of every fragment, those behind it of the whole.
    let (header, named) = if first.meta.is_ipv6() {
        let ip = first.frame.as_ref()?.head().get(l3..)?;
        let fragment = walk(ip, first.meta.l3_len as usize).ok()?.fragment?;
        (l3 + fragment.start, Some((fragment.named_at, field::get8(ip, fragment.start))))
    } else {
        (l4, None)
    };
    let ranges = fragments.iter().map(|fragment| {
        let frame = fragment.frame.as_ref()?;
        let (_, range, start) = fragment_of(&fragment.meta, frame.head())?;
        Some((frame, usize::from(fragment.meta.l3) + start, range.offset as usize, range.len as usize))
    });
    let ranges: Vec<_> = ranges.collect::<Option<_>>()?;
    let len = ranges.iter().map(|(_, _, offset, len)| offset + len).max()?;
    if header + len > CONTIGUOUS {
        return None;
    }
    let mut whole = source.take(header + len)?;
    let (headers, payload) = whole.head_mut().get_mut(..header + len)?.split_at_mut_checked(header)?;
    if !first.frame.as_ref()?.copy_to(0, headers) {
        return None;
    }
    for (frame, from, offset, len) in ranges {
        if !frame.copy_to(from, payload.get_mut(offset..offset + len)?) {
            return None;
        }
    }
    let ip = headers.get_mut(l3..)?;
    if let Some((named_at, next)) = named {
        field::put(ip, named_at, &[next]);
        let payload = header - l3 - ipv6::HEADER + len;
        field::put(ip, ipv6::offset::PAYLOAD_LEN, &(payload as u16).to_be_bytes());
    } else {
        field::put(ip, ipv4::offset::TOTAL_LEN, &((header - l3 + len) as u16).to_be_bytes());
        field::put(ip, ipv4::offset::FRAGMENT, &[0; 2]);
        ipv4::Packet::new_checked(whole.head_mut().get_mut(l3..)?).ok()?.fill_checksum();
    }
    let meta = Meta {
        l4: (if named.is_some() { l4 - FRAGMENT_HEADER } else { l4 }) as u16,
        l3_len: (header - l3 + len) as u32,
        flags: first.meta.flags & !(flag::FRAGMENT | flag::FRAGMENT_PORTS_KNOWN),
        ..first.meta
    };
    Some(Packet { frame: Some(whole), vnet: VnetState::default(), meta })
}
