//! How many packets ahead the memory that a packet needs is prefetched.

/// Number of packets that are looked up together, and whose entries and connections are prefetched, while the packets
/// before them are forwarded. A core has 10 to 24 line-fill buffers: a prefetch that finds none free is dropped or
/// stalls. A prefetch also waits for its TLB miss, and page walks overlap only among prefetches that are issued close
/// together: likely the reason why `engine/stateful-1m` is 9 % slower with each packet looked up alone, 12 before its
/// turn. With 16 together it is 4 % slower than with 8, with 6 or 12 about 1 % (measured in turns in a virtual machine
/// on a Xeon); `engine/stateful-64k` 3 % with 16, and 1.45 times as slow with 64 on Zen 4.
pub(crate) const TOGETHER: usize = 8;
/// Number of packets ahead at which the hash bucket of a packet is prefetched. It has to be in the cache when the
/// packet is looked up.
pub(crate) const PREFETCH_DISTANCE: usize = 4 * TOGETHER;
