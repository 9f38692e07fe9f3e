//! TCP headers and the options that connection tracking reads (RFC 9293, RFC 7323, RFC 2018).

use crate::options::HeaderOptions;
use crate::{Error, checksum, field};

/// Length of the header without options, bytes.
pub const HEADER: usize = 20;
/// Offset of the checksum, bytes from the start of the header.
pub const CHECKSUM: usize = 16;

/// Offsets of the fields, bytes from the start of the header.
pub mod offset {
    /// Sequence number.
    pub const SEQUENCE: usize = 4;
    /// Data offset, in the upper half of the byte.
    pub const DATA_OFFSET: usize = 12;
    /// Flags.
    pub const FLAGS: usize = 13;
}

/// Flag bits as on the wire.
pub mod flag {
    /// No more data from the sender.
    pub const FIN: u8 = 1;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 2;
    /// Reset.
    pub const RST: u8 = 4;
    /// Push.
    pub const PSH: u8 = 8;
    /// The acknowledgement field counts.
    pub const ACK: u8 = 16;
    /// The urgent pointer counts.
    pub const URG: u8 = 32;
    /// ECN echo.
    pub const ECE: u8 = 64;
    /// Congestion window reduced.
    pub const CWR: u8 = 128;
    /// Flags of segments that open, close or reset a connection.
    pub const CONTROL: u8 = SYN | FIN | RST;
}

/// Kinds of options.
pub mod option {
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub const MSS: u8 = 2;
    /// Window scale (RFC 7323 §2).
    pub const WINDOW_SCALE: u8 = 3;
    /// Selective acknowledgements are permitted (RFC 2018 §2).
    pub const SACK_PERMITTED: u8 = 4;
    /// Selective acknowledgement (RFC 2018 §3).
    pub const SACK: u8 = 5;
    /// Timestamps (RFC 7323 §3).
    pub const TIMESTAMPS: u8 = 8;
}

/// The options of a header, from the bytes behind its first [`HEADER`].
#[inline]
pub const fn options(list: &[u8]) -> HeaderOptions<'_> {
    HeaderOptions::new(list)
}

/// View of a TCP segment; the payload may end beyond the bytes.
#[derive(Debug, Clone, Copy)]
pub struct Segment<T>(T);

impl<T: AsRef<[u8]>> Segment<T> {
    /// Checks that the header with its options is there.
    #[inline]
    pub fn new_checked(bytes: T) -> Result<Self, Error> {
        if bytes.as_ref().len() < HEADER {
            return Err(Error::Truncated);
        }
        let segment = Self(bytes);
        let header = segment.header_len();
        if header < HEADER {
            Err(Error::Length)
        } else if segment.0.as_ref().len() < header {
            Err(Error::Truncated)
        } else {
            Ok(segment)
        }
    }
    /// Source port.
    #[inline]
    pub fn src_port(&self) -> u16 {
        field::get16(self.0.as_ref(), 0)
    }
    /// Destination port.
    #[inline]
    pub fn dst_port(&self) -> u16 {
        field::get16(self.0.as_ref(), 2)
    }
    /// Sequence number.
    #[inline]
    pub fn seq(&self) -> u32 {
        field::get32(self.0.as_ref(), offset::SEQUENCE)
    }
    /// Acknowledgement number.
    #[inline]
    pub fn ack(&self) -> u32 {
        field::get32(self.0.as_ref(), 8)
    }
    /// Length of the header with options, bytes.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(field::get8(self.0.as_ref(), offset::DATA_OFFSET) >> 4) * 4
    }
    /// Flags, see [`flag`].
    #[inline]
    pub fn flags(&self) -> u8 {
        field::get8(self.0.as_ref(), offset::FLAGS)
    }
    /// Window, unscaled.
    #[inline]
    pub fn window(&self) -> u16 {
        field::get16(self.0.as_ref(), 14)
    }
    /// Checksum.
    pub fn checksum(&self) -> u16 {
        field::get16(self.0.as_ref(), CHECKSUM)
    }
    /// The options, read.
    #[inline]
    pub fn options(&self) -> Options {
        Options::parse(self.0.as_ref().get(HEADER..self.header_len()).unwrap_or_default())
    }
    /// The bytes after the header, as far as they are there.
    pub fn payload(&self) -> &[u8] {
        self.0.as_ref().get(self.header_len()..).unwrap_or_default()
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Segment<T> {
    /// Sets the source port; the checksum is not adjusted.
    pub fn set_src_port(&mut self, port: u16) {
        field::put(self.0.as_mut(), 0, &port.to_be_bytes());
    }
    /// Sets the destination port; the checksum is not adjusted.
    pub fn set_dst_port(&mut self, port: u16) {
        field::put(self.0.as_mut(), 2, &port.to_be_bytes());
    }
    /// Sets the checksum.
    pub fn set_checksum(&mut self, sum: u16) {
        field::put(self.0.as_mut(), CHECKSUM, &sum.to_be_bytes());
    }
}

/// Options that connection tracking reads. The structure is two words, so that it is returned in registers: a word read
/// right after its bytes were written stalls on the store buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Highest right edge of the SACK blocks; 0 without [`Options::HAS_SACK`].
    sack_right: u32,
    /// Window scale in the low bits, and a flag for each option that is present.
    present: u32,
}

impl Options {
    const SCALE: u32 = 0xff;
    const HAS_SCALE: u32 = 0x100;
    const SACK_PERMITTED: u32 = 0x200;
    const HAS_SACK: u32 = 0x400;

    /// From the values that the accessors return.
    pub const fn new(window_scale: Option<u8>, sack_permitted: bool, sack_right: Option<u32>) -> Self {
        let mut options = Self { sack_right: 0, present: 0 };
        if let Some(scale) = window_scale {
            options.present |= Self::HAS_SCALE | scale as u32;
        }
        if sack_permitted {
            options.present |= Self::SACK_PERMITTED;
        }
        if let Some(right) = sack_right {
            options.present |= Self::HAS_SACK;
            options.sack_right = right;
        }
        options
    }

    /// Window scale, bits; larger values count as 14 (RFC 7323 §2.3).
    #[inline]
    pub const fn window_scale(&self) -> Option<u8> {
        if self.present & Self::HAS_SCALE == 0 { None } else { Some((self.present & Self::SCALE) as u8) }
    }

    /// Selective acknowledgements are permitted.
    #[inline]
    pub const fn sack_permitted(&self) -> bool {
        self.present & Self::SACK_PERMITTED != 0
    }

    /// Highest right edge of the SACK blocks, in sequence space.
    #[inline]
    pub const fn sack_right(&self) -> Option<u32> {
        if self.present & Self::HAS_SACK == 0 { None } else { Some(self.sack_right) }
    }

    /// Reads the option bytes of a header; stops at the first malformed one.
    #[inline(always)]
    pub fn parse(bytes: &[u8]) -> Self {
        // NOP NOP timestamp is what established connections send.
        if bytes.is_empty() || (bytes.len() == 12 && bytes.starts_with(&[1, 1, 8, 10])) {
            return Self::default();
        }
        Self::parse_each(bytes)
    }

    #[inline(never)]
    fn parse_each(bytes: &[u8]) -> Self {
        let (mut window_scale, mut sack_permitted, mut sack_right) = (None, false, None);
        for read in options(bytes).map_while(Result::ok) {
            match (read.kind, read.value) {
                (option::WINDOW_SCALE, [scale]) => window_scale = Some((*scale).min(14)),
                (option::SACK_PERMITTED, []) => sack_permitted = true,
                (option::SACK, blocks) => {
                    for block in blocks.chunks_exact(8) {
                        let right = field::get32(block, 4);
                        sack_right = Some(match sack_right {
                            Some(highest) if right.wrapping_sub(highest) as i32 <= 0 => highest,
                            _ => right,
                        });
                    }
                }
                _ => {}
            }
        }
        Self::new(window_scale, sack_permitted, sack_right)
    }
}

/// A header without options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags, see [`flag`].
    pub flags: u8,
    /// Window, unscaled.
    pub window: u16,
}

impl Repr {
    /// Writes [`HEADER`] bytes over the front of `segment`, whose payload must be in place, with the
    /// checksum for these IPv4 addresses; bytes that do not fit are left out.
    pub fn emit(&self, segment: &mut [u8], src: u32, dst: u32) {
        self.emit_with_options(segment, 0, src, dst);
    }
    /// Writes the header like [`Self::emit`], with options of `options` bytes, a multiple of 4 up to 40, which must be
    /// in place too.
    pub fn emit_with_options(&self, segment: &mut [u8], options: usize, src: u32, dst: u32) {
        let len = segment.len().min(0xffff) as u16;
        self.emit_summed(segment, options, checksum::pseudo_v4(src, dst, crate::ipv4::TCP, len));
    }
    /// Writes the header like [`Self::emit`], over IPv6.
    pub fn emit_over_ipv6(&self, segment: &mut [u8], src: u128, dst: u128) {
        let len = segment.len() as u32;
        self.emit_summed(segment, 0, checksum::pseudo_v6(src, dst, crate::ipv4::TCP, len));
    }
    /// Writes the header with the checksum over `segment` and a pseudo-header with the sum `pseudo`.
    fn emit_summed(&self, segment: &mut [u8], options: usize, pseudo: u16) {
        field::put(segment, 0, &self.src_port.to_be_bytes());
        field::put(segment, 2, &self.dst_port.to_be_bytes());
        field::put(segment, offset::SEQUENCE, &self.seq.to_be_bytes());
        field::put(segment, 8, &self.ack.to_be_bytes());
        field::put(segment, offset::DATA_OFFSET, &[((HEADER + options) as u8) << 2, self.flags]);
        field::put(segment, 14, &self.window.to_be_bytes());
        field::put(segment, 16, &[0; 4]);
        let sum = !checksum::add(pseudo, checksum::sum(segment));
        field::put(segment, CHECKSUM, &sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_the_options_of_a_syn_and_of_a_sack() {
        let syn = [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
        let options = Options::parse(&syn);
        assert_eq!(options, Options::new(Some(7), true, None));
        let mut sack = vec![1, 1, 5, 18];
        for edge in [0xffff_ff00u32, 0xffff_fff0, 0x10, 0x20] {
            sack.extend(edge.to_be_bytes());
        }
        assert_eq!(Options::parse(&sack).sack_right(), Some(0x20));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(segment) = Segment::new_checked(&bytes[..]) {
                let _ = (segment.options(), segment.payload());
            }
            let _ = Options::parse(&bytes);
        }
    }
}
