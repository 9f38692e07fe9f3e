//! Segments a super-frame (GSO) into the frames it would become on a wire, or into smaller super-frames.

use tollway_wire::{checksum, ethernet, field, ipv4, tcp, udp};

use crate::packet::Meta;
use crate::packet::frame::{CONTIGUOUS, Frame, FrameSource, Gso, VnetState};

/// A piece of a super-frame.
#[derive(Debug)]
pub struct Piece<F> {
    /// The frame.
    pub frame: F,
    /// Offload state.
    pub vnet: VnetState,
    /// Wire segments.
    pub segments: u32,
    /// L3 bytes on the wire.
    pub bytes: u64,
}

/// Wire segments of a super-frame that did not become pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unsegmented {
    /// Segments for which the source had no frame.
    pub without_frame: u32,
    /// Segments after the last piece that `take` wanted.
    pub unwanted: u32,
}

/// The metadata of a frame that is needed to segment it. Offsets from the start of the frame, bytes.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    l3: usize,
    l4: usize,
    /// Length of all headers.
    headers: usize,
    /// Start of the payload.
    payload: usize,
    /// Payload of a wire segment.
    size: usize,
    protocol: u8,
}

impl Layout {
    /// Returns `None` for a frame that cannot be segmented.
    pub fn of(meta: &Meta, vnet: &VnetState) -> Option<Self> {
        let protocol = match vnet.gso {
            Gso::Tcp4 => ipv4::TCP,
            Gso::Udp => ipv4::UDP,
            Gso::None | Gso::Tcp6 => return None,
        };
        let (l3, l4, size) = (usize::from(meta.l3), usize::from(meta.l4), usize::from(vnet.gso_size));
        let headers = l4 + usize::from(meta.l4_len);
        let payload = (l3 + meta.l3_len as usize).checked_sub(headers)?;
        let fits = size != 0 && headers + size <= CONTIGUOUS && meta.l4_len != 0 && l4 > l3;
        (fits && meta.tuple.protocol == protocol).then_some(Self { l3, l4, headers, payload, size, protocol })
    }

    /// Layout like [`Self::of`], from a frame that has not been parsed and its offload state, which says where the
    /// headers end.
    pub fn of_headers(head: &[u8], vnet: &VnetState) -> Option<Self> {
        let (l3, _) = ethernet::network_header(head)?;
        let ip = ipv4::Packet::new_checked(head.get(l3..)?).ok()?;
        let (l4, headers) = (l3 + ip.header_len(), usize::from(vnet.hdr_len));
        let (protocol, least) = match vnet.gso {
            Gso::Tcp4 => (ipv4::TCP, tcp::HEADER),
            Gso::Udp => (ipv4::UDP, udp::HEADER),
            Gso::None | Gso::Tcp6 => return None,
        };
        let size = usize::from(vnet.gso_size);
        let payload = (l3 + usize::from(ip.total_len())).checked_sub(headers)?;
        let fits = size != 0
            && headers + size <= CONTIGUOUS
            && (l4 + least..=head.len()).contains(&headers)
            && ip.protocol() == protocol;
        fits.then_some(Self { l3, l4, headers, payload, size, protocol })
    }

    /// L3 bytes of a full wire segment.
    pub fn segment_bytes(&self) -> u64 {
        (self.headers - self.l3 + self.size) as u64
    }

    /// Segments `frame` into pieces of at most `together` wire segments, fewer if a frame of the source does not hold
    /// so many, until `take` returns `false`.
    pub fn split<F: Frame, S: FrameSource<F>>(
        &self,
        frame: &F,
        vnet: &VnetState,
        together: u32,
        source: &mut S,
        mut take: impl FnMut(Piece<F>) -> bool,
    ) -> Unsegmented {
        let held = (CONTIGUOUS - self.headers) / self.size;
        let step = self.size * held.min(together as usize).max(1);
        let mut left = Unsegmented::default();
        for offset in (0..self.payload).step_by(step) {
            let len = step.min(self.payload - offset);
            let segments = len.div_ceil(self.size) as u32;
            match self.piece(frame, vnet, offset, len, source) {
                Some(piece) => {
                    let mut vnet = *vnet;
                    if segments == 1 {
                        (vnet.gso, vnet.gso_size, vnet.hdr_len) = (Gso::None, 0, 0);
                    }
                    let bytes = (segments as usize * (self.headers - self.l3) + len) as u64;
                    if !take(Piece { frame: piece, vnet, segments, bytes }) {
                        left.unwanted = (self.payload - offset - len).div_ceil(self.size) as u32;
                        break;
                    }
                }
                None => left.without_frame += segments,
            }
        }
        left
    }

    fn piece<F: Frame, S: FrameSource<F>>(
        &self,
        frame: &F,
        vnet: &VnetState,
        offset: usize,
        len: usize,
        source: &mut S,
    ) -> Option<F> {
        let mut piece = source.take(self.headers + len)?;
        let bytes = piece.head_mut().get_mut(..self.headers + len)?;
        bytes.get_mut(..self.headers)?.copy_from_slice(frame.head().get(..self.headers)?);
        if !frame.copy_to(self.headers + offset, bytes.get_mut(self.headers..)?) {
            return None;
        }
        let number = (offset / self.size) as u16;
        let (ip_header, partial) = (self.l4 - self.l3, vnet.needs_csum);
        let ip = bytes.get_mut(self.l3..)?;
        if self.protocol == ipv4::TCP {
            self.write_tcp(ip.get_mut(ip_header..)?, offset, len);
        }
        finish_headers(ip, ip_header, self.protocol, number, partial)?;
        Some(piece)
    }

    /// The header of one of several segments: FIN and PSH belong to the last one (RFC 9293 §3.8.6), CWR to
    /// the first one (RFC 3168 §6.1.2).
    fn write_tcp(&self, segment: &mut [u8], offset: usize, len: usize) {
        let seq = field::get32(segment, tcp::offset::SEQUENCE).wrapping_add(offset as u32);
        field::put(segment, tcp::offset::SEQUENCE, &seq.to_be_bytes());
        let mut flags = field::get8(segment, tcp::offset::FLAGS);
        if offset + len < self.payload {
            flags &= !(tcp::flag::FIN | tcp::flag::PSH);
        }
        if offset != 0 {
            flags &= !tcp::flag::CWR;
        }
        field::put(segment, tcp::offset::FLAGS, &[flags]);
    }
}

/// Writes the fields of the IPv4 and transport headers that differ between the segments of a super-frame: lengths,
/// identification and checksums. `ip` is the `number`-th segment from its IPv4 header on, which is `header` bytes long;
/// with `partial` the transport checksum is only that of the pseudo-header, and the sender completes it. Returns `None`
/// if the headers are missing.
#[inline(always)]
pub(crate) fn finish_headers(
    ip: &mut [u8],
    header: usize,
    protocol: u8,
    number: u16,
    partial: bool,
) -> Option<()> {
    let total = ip.len() as u16;
    let ident = field::get16(ip, ipv4::offset::IDENT).wrapping_add(number);
    field::put(ip, ipv4::offset::TOTAL_LEN, &total.to_be_bytes());
    field::put(ip, ipv4::offset::IDENT, &ident.to_be_bytes());
    if let Ok(mut packet) = ipv4::Packet::new_checked(&mut *ip) {
        packet.fill_checksum();
    }
    let (src, dst) = (field::get32(ip, ipv4::offset::SRC), field::get32(ip, ipv4::offset::DST));
    let segment = ip.get_mut(header..)?;
    let len = segment.len() as u16;
    let at = if protocol == ipv4::TCP {
        tcp::CHECKSUM
    } else {
        field::put(segment, udp::LENGTH, &len.to_be_bytes());
        udp::CHECKSUM
    };
    let pseudo = checksum::pseudo_v4(src, dst, protocol, len);
    let sum = if partial {
        pseudo
    } else {
        field::put(segment, at, &[0; 2]);
        checksum::no_zero(!checksum::add(pseudo, checksum::sum(segment)))
    };
    field::put(segment, at, &sum.to_be_bytes());
    Some(())
}
