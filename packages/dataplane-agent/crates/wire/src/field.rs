//! Big-endian fields at fixed offsets, without panics. Beyond the end of the bytes `get` gives 0, `read` gives `None`,
//! and a write does nothing.

/// Byte at an offset, if it is there.
#[inline]
pub fn read8(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

/// Two bytes, if they are there.
#[inline]
pub fn read16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Four bytes, if they are there.
#[inline]
pub fn read32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Sixteen bytes, if they are there.
#[inline]
pub fn read128(bytes: &[u8], at: usize) -> Option<u128> {
    Some(u128::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Byte at an offset.
#[inline]
pub fn get8(bytes: &[u8], at: usize) -> u8 {
    read8(bytes, at).unwrap_or(0)
}

/// Two bytes.
#[inline]
pub fn get16(bytes: &[u8], at: usize) -> u16 {
    read16(bytes, at).unwrap_or(0)
}

/// Four bytes.
#[inline]
pub fn get32(bytes: &[u8], at: usize) -> u32 {
    read32(bytes, at).unwrap_or(0)
}

/// Sixteen bytes.
#[inline]
pub fn get128(bytes: &[u8], at: usize) -> u128 {
    read128(bytes, at).unwrap_or(0)
}

/// A link-layer address.
#[inline]
pub fn mac(bytes: &[u8], at: usize) -> [u8; 6] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
}

/// Writes all of `value`, or nothing when it does not fit.
#[inline]
pub fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(field) = at.checked_add(value.len()).and_then(|end| bytes.get_mut(at..end)) {
        field.copy_from_slice(value);
    }
}
