//! Frames on the heap.

use tollway_engine::packet::frame::{CONTIGUOUS, Frame, FrameSource, HEAD_MIN, HEADROOM};

/// A frame on the heap. A super-frame shows only its first [`HEAD_MIN`] bytes, as a port with scattered
/// buffers would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeapFrame {
    bytes: Vec<u8>,
    contiguous: usize,
    headroom: usize,
}

impl HeapFrame {
    /// From the bytes of an Ethernet frame.
    pub fn new(bytes: Vec<u8>) -> Self {
        let contiguous = if bytes.len() > CONTIGUOUS { HEAD_MIN } else { usize::MAX };
        Self { bytes, contiguous, headroom: HEADROOM }
    }

    /// Bytes of the frame.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Frame for HeapFrame {
    fn head(&self) -> &[u8] {
        self.bytes.get(..self.contiguous.min(self.bytes.len())).unwrap_or_default()
    }
    fn head_mut(&mut self) -> &mut [u8] {
        let end = self.contiguous.min(self.bytes.len());
        self.bytes.get_mut(..end).unwrap_or_default()
    }
    fn len(&self) -> usize {
        self.bytes.len()
    }
    fn resize(&mut self, len: usize) -> bool {
        if self.contiguous < self.bytes.len() || len > CONTIGUOUS {
            return false;
        }
        self.bytes.resize(len, 0);
        true
    }
    fn push(&mut self, len: usize) -> bool {
        if len > self.headroom {
            return false;
        }
        // As in a buffer that is reused: what was there before is no zeros.
        self.bytes.splice(0..0, std::iter::repeat_n(0xa5, len));
        self.headroom -= len;
        self.contiguous = self.contiguous.saturating_add(len);
        true
    }
    fn pull(&mut self, len: usize) -> bool {
        if len > self.head().len() {
            return false;
        }
        self.bytes.drain(..len);
        self.headroom += len;
        if self.contiguous != usize::MAX {
            self.contiguous -= len;
        }
        true
    }
    fn copy_to(&self, offset: usize, to: &mut [u8]) -> bool {
        let Some(from) = self.bytes.get(offset..offset + to.len()) else { return false };
        to.copy_from_slice(from);
        true
    }
    fn footprint(&self) -> usize {
        self.bytes.len().max(CONTIGUOUS)
    }
}

/// Source of heap frames; a test can make it run dry.
#[derive(Debug, Default)]
pub struct HeapSource {
    /// Gives nothing while set.
    pub empty: bool,
    /// Frames given.
    pub taken: u64,
}

impl FrameSource<HeapFrame> for HeapSource {
    fn take(&mut self, len: usize) -> Option<HeapFrame> {
        if self.empty || len > CONTIGUOUS {
            return None;
        }
        self.taken += 1;
        // Recycled frames hold old bytes: the engine must not count on zeros.
        Some(HeapFrame { bytes: vec![0xa5; len], contiguous: usize::MAX, headroom: HEADROOM })
    }
}
