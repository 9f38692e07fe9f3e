//! Capture files in tcpdump's format (draft-ietf-opsawg-pcap): enough to put their frames through a router.

/// Length of the file's header and of a packet's header, bytes.
const FILE_HEADER: usize = 24;
const PACKET_HEADER: usize = 16;

/// The frames of an Ethernet capture; `None` when the bytes are no such file. A packet that the file cuts off is
/// left out.
pub fn frames(file: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let header: &[u8; FILE_HEADER] = file.first_chunk()?;
    let big = match header.first_chunk::<4>()? {
        [0xa1, 0xb2, 0xc3, 0xd4] | [0xa1, 0xb2, 0x3c, 0x4d] => true,
        [0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1] => false,
        _ => return None,
    };
    let number =
        move |bytes: [u8; 4]| if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
    let link: [u8; 4] = header.last_chunk().copied()?;
    // The upper bits say whether frames end with their FCS; 1 is Ethernet.
    if number(link) & 0xffff != 1 {
        return None;
    }
    let mut rest = file.get(FILE_HEADER..)?;
    Some(std::iter::from_fn(move || {
        let length: [u8; 4] = rest.get(8..12)?.try_into().ok()?;
        let length = number(length) as usize;
        let frame = rest.get(PACKET_HEADER..PACKET_HEADER.checked_add(length)?)?;
        rest = rest.get(PACKET_HEADER + length..)?;
        Some(frame)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(big: bool, link: u32, packets: &[&[u8]]) -> Vec<u8> {
        let number = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let mut file = number(0xa1b2_c3d4).to_vec();
        file.extend([0; 16]);
        file.extend(number(link));
        for packet in packets {
            file.extend([0; 8]);
            file.extend(number(packet.len() as u32));
            file.extend(number(packet.len() as u32));
            file.extend_from_slice(packet);
        }
        file
    }

    #[test]
    fn frames_are_found_in_both_byte_orders_and_a_torn_one_is_left_out() {
        for big in [false, true] {
            let whole = file(big, 1, &[b"one", b"", b"three"]);
            let found: Vec<_> = frames(&whole).unwrap().collect();
            assert_eq!(found, [&b"one"[..], b"", b"three"]);
            let torn = &whole[..whole.len() - 1];
            assert_eq!(frames(torn).unwrap().count(), 2);
        }
        assert!(frames(&file(true, 113, &[])).is_none());
        assert!(frames(b"no capture").is_none());
    }
}
