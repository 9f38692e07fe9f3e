//! The interface of frame buffers, offload state, and frames on the heap.

/// An owned Ethernet frame.
///
/// A frame may be a super-frame (TSO/GRO) of up to 64 KiB of which only the front is contiguous: `head`
/// holds at least the first [`HEAD_MIN`] bytes, or the whole frame if it is shorter. The engine reads
/// and rewrites headers there and never touches the rest.
pub trait Frame: Send {
    /// The contiguous front of the frame, from the Ethernet header on.
    fn head(&self) -> &[u8];
    /// Mutable [`Self::head`].
    fn head_mut(&mut self) -> &mut [u8];
    /// Length of the whole frame, bytes, without FCS; at least `head().len()`.
    fn len(&self) -> usize;
    /// Whether the frame has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Shortens or lengthens the frame, all of it within `head`. Returns `false`, changing nothing, when
    /// the buffer is too small or the frame has bytes beyond `head`.
    fn resize(&mut self, len: usize) -> bool;
    /// Puts `len` bytes of unspecified content before the frame. Returns `false`, changing nothing, when there is less
    /// room before it; a frame that was received or taken has [`HEADROOM`].
    fn push(&mut self, len: usize) -> bool;
    /// Takes `len` bytes off the front of the frame, and off its head with it. Returns `false`, changing nothing, when
    /// the head has fewer.
    fn pull(&mut self, len: usize) -> bool;
    /// Copies the bytes from `offset` on, of the head or behind it, until `to` is full. Returns `false`,
    /// with `to` in any state, when the frame has fewer.
    fn copy_to(&self, offset: usize, to: &mut [u8]) -> bool;
    /// Memory that the frame occupies, bytes; at least its length.
    fn footprint(&self) -> usize;
}

/// Minimum number of bytes of a frame that [`Frame::head`] contains (fewer for shorter frames): Ethernet with two tags,
/// the longest IPv4 header, the longest TCP header, and the quoted packet of an ICMP error.
pub const HEAD_MIN: usize = 256;

/// Room before a frame of a port or a source, bytes, for headers of encapsulations that [`Frame::push`] adds.
pub const HEADROOM: usize = 128;

/// A frame of any source that is no longer than this number of bytes is contiguous.
pub const CONTIGUOUS: usize = 2048;

/// Source of frames for packets that the engine generates (ARP, ICMP errors, resets, fragments).
pub trait FrameSource<F: Frame> {
    /// A frame of `len` bytes with unspecified content, `None` when the pool is empty or `len` is more
    /// than a frame of the source holds contiguously (at least [`CONTIGUOUS`]).
    fn take(&mut self, len: usize) -> Option<F>;
}

/// Offload state that travels with a frame between ports (virtio-net header, Virtio 1.2 §5.1.6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VnetState {
    /// The L4 checksum field holds only the pseudo-header sum (not complemented); if the frame is sent without offload,
    /// the sender must complete the checksum from `csum_start` on.
    pub needs_csum: bool,
    /// The checksum was verified by the sender's side.
    pub data_valid: bool,
    /// Segmentation that the frame still needs.
    pub gso: Gso,
    /// L4 payload bytes per segment; 0 without segmentation.
    pub gso_size: u16,
    /// Length of all headers, bytes; with segmentation only.
    pub hdr_len: u16,
    /// Offset from the start of the frame at which checksumming starts.
    pub csum_start: u16,
    /// Offset of the checksum field from `csum_start`.
    pub csum_offset: u16,
}

/// Kind of segmentation a super-frame needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Gso {
    /// None: an ordinary frame.
    #[default]
    None,
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP (USO), one datagram per segment.
    Udp,
}

impl VnetState {
    /// Wire segments of a frame with `payload` bytes after all headers.
    pub fn segments(&self, payload: usize) -> u32 {
        match (self.gso, self.gso_size) {
            (Gso::None, _) | (_, 0) => 1,
            (_, size) => u32::try_from(payload.div_ceil(usize::from(size))).unwrap_or(u32::MAX).max(1),
        }
    }

    /// Moves the offsets by the `len` bytes that were put before the headers.
    pub fn pushed(&mut self, len: u16) {
        if self.needs_csum {
            self.csum_start = self.csum_start.saturating_add(len);
        }
        if self.gso != Gso::None {
            self.hdr_len = self.hdr_len.saturating_add(len);
        }
    }

    /// Moves the offsets by the `len` bytes that were taken off before the headers.
    pub fn pulled(&mut self, len: u16) {
        if self.needs_csum {
            self.csum_start = self.csum_start.saturating_sub(len);
        }
        if self.gso != Gso::None {
            self.hdr_len = self.hdr_len.saturating_sub(len);
        }
    }
}

/// Minimum footprint of a [`HeapFrame`], bytes: that of a frame of a pool.
const LEAST_FOOTPRINT: usize = 2048;

/// A frame on the heap, for packets that no port receives: those of dry runs and tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeapFrame(pub(crate) Vec<u8>);

impl Frame for HeapFrame {
    fn head(&self) -> &[u8] {
        &self.0
    }
    fn head_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn resize(&mut self, len: usize) -> bool {
        self.0.resize(len, 0);
        true
    }
    fn push(&mut self, len: usize) -> bool {
        self.0.splice(0..0, std::iter::repeat_n(0, len));
        true
    }
    fn pull(&mut self, len: usize) -> bool {
        let held = len <= self.0.len();
        if held {
            self.0.drain(..len);
        }
        held
    }
    fn copy_to(&self, offset: usize, to: &mut [u8]) -> bool {
        let from = offset.checked_add(to.len()).and_then(|end| self.0.get(offset..end));
        from.map(|from| to.copy_from_slice(from)).is_some()
    }
    fn footprint(&self) -> usize {
        self.0.len().max(LEAST_FOOTPRINT)
    }
}

/// The source of [`HeapFrame`]s.
pub(crate) struct HeapFrames;

impl FrameSource<HeapFrame> for HeapFrames {
    fn take(&mut self, len: usize) -> Option<HeapFrame> {
        Some(HeapFrame(vec![0; len]))
    }
}
