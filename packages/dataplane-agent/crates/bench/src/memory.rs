//! Memory frames: what the engine works on when there is no wire.

use tollway_engine::frame::{Frame, FrameSource};

/// Bytes of a buffer, as the pool of the memory ports has them.
const ROOM: usize = 2048;

/// An owned buffer.
#[derive(Debug)]
pub struct MemoryFrame {
    bytes: Box<[u8; ROOM]>,
    len: usize,
}

impl MemoryFrame {
    fn new() -> Self {
        Self { bytes: Box::new([0; ROOM]), len: 0 }
    }

    /// Overwrites the frame.
    pub fn fill<const N: usize>(&mut self, content: &[u8; N]) {
        self.len = N.min(ROOM);
        for (to, from) in self.bytes.iter_mut().zip(content) {
            *to = *from;
        }
    }
}

impl Frame for MemoryFrame {
    fn head(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn head_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }

    fn len(&self) -> usize {
        self.len
    }

    fn resize(&mut self, len: usize) -> bool {
        let fits = len <= ROOM;
        if fits {
            self.len = len;
        }
        fits
    }
}

/// Frames that are made once and come back.
pub struct Pool(Vec<MemoryFrame>);

impl Pool {
    /// `count` frames.
    pub fn new(count: usize) -> Self {
        Self((0..count).map(|_| MemoryFrame::new()).collect())
    }

    /// A frame, a new one if all are out.
    pub fn get(&mut self) -> MemoryFrame {
        self.0.pop().unwrap_or_else(MemoryFrame::new)
    }

    /// Takes a frame back.
    pub fn put(&mut self, frame: MemoryFrame) {
        self.0.push(frame);
    }
}

impl FrameSource<MemoryFrame> for Pool {
    fn take(&mut self, len: usize) -> Option<MemoryFrame> {
        let mut frame = self.0.pop()?;
        frame.resize(len).then_some(frame)
    }
}
