//! Counters that one worker writes and the control thread reads without waking it.

use std::sync::atomic::{AtomicU64, Ordering};

use tollway_config::protocol::DropStats;
use tollway_engine::packet::frame::{Gso, VnetState};

macro_rules! port_counters {
    ($($field:ident: $doc:literal,)*) => {
        /// Counters of a port, of one worker.
        #[derive(Debug, Default)]
        #[repr(align(64))]
        pub struct PortCounters {
            $(#[doc = $doc] pub $field: Counter,)*
        }

        /// Values of [`PortCounters`] at one time.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct PortTotals {
            $(#[doc = $doc] pub $field: u64,)*
        }

        impl PortCounters {
            /// Adds their values.
            pub fn add_to(&self, totals: &mut PortTotals) {
                $(totals.$field += self.$field.get();)*
            }
        }

        impl PortTotals {
            /// The difference from `earlier`.
            #[must_use]
            pub fn since(&self, earlier: &PortTotals) -> PortTotals {
                PortTotals { $($field: self.$field.saturating_sub(earlier.$field),)* }
            }
        }
    };
}

port_counters! {
    rx_packets: "Wire segments received.",
    rx_bytes: "L2 bytes received, without FCS.",
    tx_packets: "Wire segments sent.",
    tx_bytes: "L2 bytes sent, without FCS.",
    rx_drops: "Frames lost before the engine saw them.",
    tx_drops: "Frames the port could not take.",
    fp_rx_packets: "Wire segments received that took the fast path.",
    fp_rx_bytes: "Their L2 bytes.",
    fp_tx_packets: "Wire segments sent that took the fast path.",
    fp_tx_bytes: "Their L2 bytes.",
    own_tx_packets: "Wire segments sent that the router made itself.",
    own_tx_bytes: "Their L2 bytes.",
}

/// A counter with one writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds, without an atomic read-modify-write.
    #[inline]
    pub fn add(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Sets the counter to a count that its writer keeps elsewhere.
    #[inline]
    pub fn set(&self, amount: u64) {
        self.0.store(amount, Ordering::Relaxed);
    }

    /// Value of the counter.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Wire segments of a frame and their L2 bytes: each segment repeats all headers.
#[inline]
pub fn on_the_wire(len: usize, vnet: &VnetState) -> (u64, u64) {
    if vnet.gso == Gso::None {
        return (1, len as u64);
    }
    let headers = usize::from(vnet.hdr_len).min(len);
    let segments = u64::from(vnet.segments(len - headers));
    (segments, len as u64 + (segments - 1) * headers as u64)
}

macro_rules! worker_drops {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// Why a worker dropped a frame outside the engine's stages. Each reason is one counter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub enum WorkerDrop {
            $(#[doc = $text] $variant,)*
        }

        impl WorkerDrop {
            /// Every reason.
            pub const ALL: &'static [WorkerDrop] = &[$(WorkerDrop::$variant,)*];

            /// Stable name, as counters carry it.
            pub fn name(self) -> &'static str {
                match self { $(WorkerDrop::$variant => $name,)* }
            }

            /// Sentence for people.
            pub fn text(self) -> &'static str {
                match self { $(WorkerDrop::$variant => $text,)* }
            }
        }
    };
}

worker_drops! {
    ReceiveQueueFull "receive-queue-full" "The kernel dropped it because the worker did not keep up.";
    FrameUnusable "frame-unusable" "Received with an offload that cannot be forwarded, or longer than a frame can be.";
    TransmitQueueFull "transmit-queue-full" "The port did not take frames fast enough.";
    PortRefused "port-refused" "The kernel refused to send it.";
    PortGone "port-gone" "The netdev of the port to leave by is gone.";
    NoLocalService "no-local-service" "For the router itself, where no namespace for local services is connected.";
    LocalQueueFull "local-queue-full" "The router's namespace did not take it.";
    HandoverQueueFull "handover-queue-full" "The worker that owns the flow did not keep up.";
}

/// Counters of [`WorkerDrop`]s.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkerDrops([u64; WorkerDrop::ALL.len()]);

impl WorkerDrops {
    /// Counts frames.
    #[inline]
    pub fn add(&mut self, reason: WorkerDrop, frames: u64) {
        if let Some(count) = self.0.get_mut(reason as usize) {
            *count += frames;
        }
    }

    /// Adds another worker's.
    pub fn merge(&mut self, other: &WorkerDrops) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// The reasons that have occurred, in the form of the protocol.
    pub fn stats(&self) -> impl Iterator<Item = DropStats> {
        WorkerDrop::ALL.iter().zip(self.0).filter(|(_, packets)| *packets > 0).map(|(reason, packets)| {
            DropStats { reason: reason.name().to_owned(), text: reason.text().to_owned(), packets }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollway_engine::packet::verdict::DropReason;

    #[test]
    fn a_super_frame_counts_as_its_segments() {
        let vnet = VnetState { gso: Gso::Tcp4, gso_size: 1448, hdr_len: 66, ..VnetState::default() };
        assert_eq!(on_the_wire(66 + 1448 * 3 + 1, &vnet), (4, 66 * 4 + 1448 * 3 + 1));
        assert_eq!(on_the_wire(60, &VnetState::default()), (1, 60));
    }

    #[test]
    fn reasons_are_distinct_from_each_other_and_from_the_engines() {
        let mut names: Vec<_> = WorkerDrop::ALL.iter().map(|reason| reason.name()).collect();
        names.extend(DropReason::ALL.iter().map(|reason| reason.name()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

/// The table with the line that `docs/adding/drop-reason.md` adds for a worker.
#[cfg(test)]
mod sample {
    worker_drops! {
        PortGone "port-gone" "The netdev of the port to leave by is gone.";
        Sample "sample" "Dropped by a worker that is there in tests alone.";
    }

    #[test]
    fn a_line_gives_a_reason_its_counter_its_name_and_its_sentence() {
        assert_eq!(WorkerDrop::ALL, [WorkerDrop::PortGone, WorkerDrop::Sample]);
        let mut counters = [0; WorkerDrop::ALL.len()];
        counters[WorkerDrop::Sample as usize] += 1;
        assert_eq!(counters, [0, 1]);
        assert_eq!(WorkerDrop::Sample.name(), "sample");
        assert_eq!(WorkerDrop::Sample.text(), "Dropped by a worker that is there in tests alone.");
    }
}
