//! The ACK filter: which acknowledgement makes an earlier one redundant.
//!
//! An acknowledgement makes an earlier one of the same connection redundant if it acknowledges more and has the same
//! flags. The blocks that the earlier one reports in selective acknowledgements (RFC 2018) must be reported or
//! acknowledged by the later one too. A duplicate acknowledgement (RFC 5681 §2), a report of a duplicate segment (RFC
//! 2883) and an echo of congestion that the later one does not repeat (RFC 3168 §6.1.3) are kept.

use tollway_wire::options::HeaderOption;
use tollway_wire::tcp::option::{SACK, TIMESTAMPS};
use tollway_wire::{field, tcp};

use crate::qos::kind::header::{HeaderFields, PureAck};

/// Most SACK blocks of a header.
const BLOCKS: usize = 4;

/// The options of a TCP header that the filter reads.
#[derive(Debug, Clone, Copy, Default)]
struct Options {
    blocks: [(u32, u32); BLOCKS],
    len: usize,
    timestamps: Option<u32>,
}

impl Options {
    /// Returns `None` if there are other options, or malformed ones.
    fn parse(list: &[u8]) -> Option<Self> {
        let mut options = Self::default();
        for option in tcp::options(list) {
            let HeaderOption { kind, value, .. } = option.ok()?;
            match kind {
                SACK if value.len().is_multiple_of(8) => {
                    for block in value.chunks_exact(8) {
                        *options.blocks.get_mut(options.len)? =
                            (field::get32(block, 0), field::get32(block, 4));
                        options.len += 1;
                    }
                }
                TIMESTAMPS if value.len() == 8 => options.timestamps = Some(field::get32(value, 0)),
                _ => return None,
            }
        }
        Some(options)
    }

    fn blocks(&self) -> &[(u32, u32)] {
        self.blocks.get(..self.len).unwrap_or_default()
    }
}

/// Whether `a` is before `b` in sequence space.
fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Whether an earlier packet of a queue need not be sent if a later one is.
pub fn is_redundant(earlier: (&HeaderFields, &[u8]), later: (&HeaderFields, &[u8])) -> bool {
    let (fields, other) = (earlier.0, later.0);
    let same = (fields.src, fields.dst, fields.src_port, fields.dst_port, fields.traffic_class)
        == (other.src, other.dst, other.src_port, other.dst_port, other.traffic_class);
    let (Some(old), Some(new)) = (PureAck::of(fields, earlier.1), PureAck::of(other, later.1)) else {
        return false;
    };
    if !same || old.flags != new.flags || !before(old.number, new.number) {
        return false;
    }
    let (Some(said), Some(says)) = (Options::parse(old.options), Options::parse(new.options)) else {
        return false;
    };
    let repeats = |&(left, right): &(u32, u32)| {
        let is_acknowledged = !before(new.number, right);
        let is_within = |&(from, to): &(u32, u32)| !before(left, from) && !before(to, right);
        // A block below the acknowledgement number reports a duplicate segment.
        before(old.number, right) && (is_acknowledged || says.blocks().iter().any(is_within))
    };
    // A block that a later block contains is a duplicate (RFC 2883 §4).
    let is_duplicate = match said.blocks() {
        [(left, right), (from, to), ..] => !before(*left, *from) && !before(*to, *right),
        _ => false,
    };
    let in_time = match (said.timestamps, says.timestamps) {
        (None, None) => true,
        (Some(old), Some(new)) => !before(new, old),
        _ => false,
    };
    in_time && !is_duplicate && said.blocks().iter().all(repeats)
}
