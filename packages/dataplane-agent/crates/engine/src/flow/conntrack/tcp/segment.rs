//! The fields of a segment that the tracker reads, and the implementation of [`Protocol`] for TCP.

use tollway_wire::field;
use tollway_wire::tcp::{HEADER, Options, flag};

use super::state::SegmentKind;
use super::{ProtocolState, SegmentOutcome};
use crate::flow::conntrack::hot_state::HotState;
use crate::flow::conntrack::protocol::{Judgement, Protocol};
use crate::flow::conntrack::tcp_state::State;
use crate::flow::conntrack::timeouts::Timeouts;
use crate::ids::Direction;
use crate::packet::Meta;

/// Fields of a segment that tracking reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Payload bytes; of a super-frame all of them.
    pub payload: u32,
    /// Window, unscaled.
    pub window: u16,
    /// Flags as on the wire.
    pub flags: u8,
    /// Options.
    pub options: Options,
}

impl Segment {
    /// Parses a TCP header; `None` if it is incomplete.
    #[inline(always)]
    pub fn parse(header: &[u8], payload: u32) -> Option<Self> {
        let fixed: &[u8; HEADER] = header.first_chunk()?;
        let len = usize::from(field::get8(fixed, 12) >> 4) * 4;
        let options = match len {
            HEADER => Options::default(),
            _ => Options::parse(header.get(HEADER..len)?),
        };
        Some(Self {
            seq: field::get32(fixed, 4),
            ack: field::get32(fixed, 8),
            payload,
            window: field::get16(fixed, 14),
            flags: field::get8(fixed, 13),
            options,
        })
    }

    /// Whether one of the flags is set.
    pub(super) const fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Sequence number after the segment: SYN and FIN count one each (RFC 9293 §3.4).
    pub(crate) const fn end(&self) -> u32 {
        let control = self.has(flag::SYN) as u32 + self.has(flag::FIN) as u32;
        self.seq.wrapping_add(self.payload).wrapping_add(control)
    }

    /// The kind of segment for the state machine, by its flags; `None` for an invalid combination of flags.
    pub(super) fn kind(&self) -> Option<SegmentKind> {
        // URG may occur with SYN or ACK; ECN bits and PSH do not affect the state.
        match self.flags & STATE_FLAGS {
            flag::SYN => Some(SegmentKind::Syn),
            SYN_ACK => Some(SegmentKind::SynAck),
            FIN_ACK => Some(SegmentKind::Fin),
            flag::ACK => Some(SegmentKind::Ack),
            flag::RST | RST_ACK => Some(SegmentKind::Rst),
            _ => None,
        }
    }
}

/// Flags that affect the state.
const STATE_FLAGS: u8 = flag::FIN | flag::SYN | flag::RST | flag::ACK;
const SYN_ACK: u8 = flag::SYN | flag::ACK;
const FIN_ACK: u8 = flag::FIN | flag::ACK;
const RST_ACK: u8 = flag::RST | flag::ACK;

impl Protocol for Segment {
    #[inline(always)]
    fn read(meta: &Meta, head: &[u8]) -> Option<Self> {
        let payload = meta.l3_len.saturating_sub(meta.headers());
        Self::parse(head.get(usize::from(meta.l4)..)?, payload)
    }

    fn open(&self, timeouts: &Timeouts) -> Option<ProtocolState> {
        ProtocolState::open(self, timeouts)
    }

    fn track(&self, state: &mut ProtocolState, direction: Direction, timeouts: &Timeouts) -> Judgement {
        let order = state.order(direction, self);
        match state.track(direction, self, timeouts) {
            SegmentOutcome::Accepted => Judgement::Accepted(order),
            SegmentOutcome::Ignored => Judgement::Ignored(order),
            SegmentOutcome::Invalid => Judgement::Invalid,
            SegmentOutcome::Reopened => Judgement::Reopened,
        }
    }

    #[inline(always)]
    fn track_fast(&self, hot: &mut HotState, direction: Direction) -> bool {
        hot.status.assured() && hot.protocol_state.track_in_order(direction, self)
    }

    fn assures(&self, hot: &HotState, _: Direction) -> bool {
        hot.status.seen_reply() && hot.protocol_state.state() == State::Established
    }

    #[inline(always)]
    fn lifetime(hot: &HotState, timeouts: &Timeouts) -> u64 {
        hot.protocol_state.timeout(timeouts)
    }

    /// Only a SYN: a peer refuses any other segment from an address that it does not know.
    #[inline(always)]
    fn may_open_anew(&self) -> bool {
        self.flags & STATE_FLAGS == flag::SYN
    }

    /// Packets forwarded elsewhere change the windows, which are unknown from then on; they must not be able to change
    /// anything else.
    fn may_offload(hot: &HotState, timeouts: &Timeouts) -> bool {
        timeouts.loose && hot.status.assured() && hot.protocol_state.state() == State::Established
    }
}
