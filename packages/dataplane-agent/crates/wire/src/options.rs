//! The list of options at the end of an IPv4 or a TCP header. Both have one format (RFC 791 §3.1, RFC 9293 §3.1): an
//! end-of-list byte, a no-operation byte for padding, and options that consist of kind, length and value. The length
//! includes the kind and length bytes.

use crate::Error;

/// Kind "end of option list".
pub const END: u8 = 0;
/// Kind "no operation", a padding byte between options.
pub const NO_OPERATION: u8 = 1;

/// Minimum length of an option that is not a single byte, bytes: kind and length.
const LEAST: usize = 2;

/// An option with a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderOption<'a> {
    /// Kind.
    pub kind: u8,
    /// Start of the option, bytes from the start of the list.
    pub start: usize,
    /// The bytes after kind and length.
    pub value: &'a [u8],
}

/// Returns the number of bytes to the next option and the length that the first option claims. The two differ only for
/// a malformed option. `None` at the end of the list.
#[inline(always)]
fn step(list: &[u8]) -> Option<Result<(usize, usize), Error>> {
    let (kind, rest) = list.split_first()?;
    let claimed = match (*kind, rest.first()) {
        (END, _) => return None,
        (NO_OPERATION, _) => 1,
        (_, Some(len)) => usize::from(*len),
        (_, None) => return Some(Err(Error::Truncated)),
    };
    let len = if *kind == NO_OPERATION { 1 } else { claimed.max(LEAST) };
    Some(if len <= list.len() { Ok((len, claimed)) } else { Err(Error::Truncated) })
}

/// Iterates over the options of a list, without padding. An option that extends beyond the bytes yields
/// [`Error::Truncated`] and ends the iteration. An option that claims a length below 2 yields [`Error::Length`]; the
/// iteration continues two bytes later, as Linux does when it searches for the maximum segment size (xt_TCPMSS).
#[derive(Debug, Clone)]
pub struct HeaderOptions<'a> {
    list: &'a [u8],
    at: usize,
}

impl<'a> HeaderOptions<'a> {
    /// The options in the bytes between the fixed header and its end.
    #[inline]
    pub const fn new(list: &'a [u8]) -> Self {
        Self { list, at: 0 }
    }
}

impl<'a> Iterator for HeaderOptions<'a> {
    type Item = Result<HeaderOption<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (start, list) = (self.at, self.list.get(self.at..)?);
            let (len, claimed) = match step(list)? {
                Ok(lengths) => lengths,
                Err(error) => {
                    self.at = self.list.len();
                    return Some(Err(error));
                }
            };
            self.at += len;
            match list.get(..len) {
                Some([kind, _, value @ ..]) if claimed >= LEAST => {
                    return Some(Ok(HeaderOption { kind: *kind, start, value }));
                }
                Some([NO_OPERATION]) => {}
                _ => return Some(Err(Error::Length)),
            }
        }
    }
}

/// Iterates over the writable bytes of each option, including kind and length. An option that claims a length below 2
/// yields two bytes. The iteration ends before an option that extends beyond the bytes.
#[derive(Debug)]
pub struct HeaderOptionsMut<'a> {
    list: &'a mut [u8],
}

impl<'a> HeaderOptionsMut<'a> {
    /// The options in the bytes between the fixed header and its end.
    pub const fn new(list: &'a mut [u8]) -> Self {
        Self { list }
    }
}

impl<'a> Iterator for HeaderOptionsMut<'a> {
    type Item = &'a mut [u8];

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (len, _) = step(self.list)?.ok()?;
            let (option, rest) = std::mem::take(&mut self.list).split_at_mut_checked(len)?;
            self.list = rest;
            if len >= LEAST {
                return Some(option);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Read<'a> = Result<(u8, usize, &'a [u8]), Error>;

    fn read(list: &[u8]) -> Vec<Read<'_>> {
        HeaderOptions::new(list)
            .map(|option| option.map(|HeaderOption { kind, start, value }| (kind, start, value)))
            .collect()
    }

    #[test]
    fn options_are_read_up_to_the_end_of_the_list() {
        assert_eq!(
            read(&[1, 2, 4, 5, 180, 1, 4, 2, 0, 3, 3, 7]),
            [Ok((2, 1, &[5, 180][..])), Ok((4, 6, &[][..]))]
        );
        assert_eq!(read(&[]), []);
        assert_eq!(read(&[1, 1, 1]), []);
    }

    #[test]
    fn malformed_options_are_told_and_those_that_leave_the_list_end_it() {
        assert_eq!(read(&[3, 0, 4, 2]), [Err(Error::Length), Ok((4, 2, &[][..]))]);
        assert_eq!(read(&[3, 1, 4, 2]), [Err(Error::Length), Ok((4, 2, &[][..]))]);
        assert_eq!(read(&[4, 2, 3]), [Ok((4, 0, &[][..])), Err(Error::Truncated)]);
        assert_eq!(read(&[3, 4, 7]), [Err(Error::Truncated)]);
        assert_eq!(read(&[1, 3]), [Err(Error::Truncated)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(1000)))]

        /// Few values, so that lists are often whole.
        #[test]
        fn lists_are_read_as_the_rfc_reads_them(
            mut list in proptest::collection::vec(prop_oneof![4 => 0u8..8, 1 => any::<u8>()], 0..41),
        ) {
            let (mut expected, mut at) = (Vec::new(), 0);
            while at < list.len() && list[at] != 0 {
                if list[at] == 1 {
                    at += 1;
                    continue;
                }
                let len = list.get(at + 1).map_or(usize::MAX, |len| usize::from(*len));
                if len > list.len() - at || list.len() - at < 2 {
                    expected.push(Err(Error::Truncated));
                    break;
                }
                expected.push(if len < 2 { Err(Error::Length) } else { Ok((list[at], at, &list[at + 2..at + len])) });
                at += len.max(2);
            }
            prop_assert_eq!(read(&list), expected.clone());
            // Written to, they are the same, with two bytes of those that claim less.
            let whole: Vec<_> = expected.iter().filter(|option| **option != Err(Error::Truncated)).collect();
            let lengths: Vec<_> = whole.iter().map(|option| option.map_or(2, |(_, _, value)| 2 + value.len())).collect();
            let mut copy = list.clone();
            let found: Vec<_> = HeaderOptionsMut::new(&mut copy).map(|option| option.len()).collect();
            prop_assert_eq!(found, lengths);
            // What is filled up afterwards leaves nothing behind.
            HeaderOptionsMut::new(&mut list).for_each(|option| option.fill(NO_OPERATION));
            prop_assert!(HeaderOptions::new(&list).all(|option| option == Err(Error::Truncated)));
        }
    }
}
