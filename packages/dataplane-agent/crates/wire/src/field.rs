//! Big-endian fields at fixed offsets, without panics: a read beyond the end gives 0, a write does nothing.

/// One byte.
#[inline]
pub fn get8(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Two bytes.
#[inline]
pub fn get16(bytes: &[u8], at: usize) -> u16 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(field) => u16::from_be_bytes(*field),
        None => 0,
    }
}

/// Four bytes.
#[inline]
pub fn get32(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(field) => u32::from_be_bytes(*field),
        None => 0,
    }
}

/// Sixteen bytes.
#[inline]
pub fn get128(bytes: &[u8], at: usize) -> u128 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(field) => u128::from_be_bytes(*field),
        None => 0,
    }
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
