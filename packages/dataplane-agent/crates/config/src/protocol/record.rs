//! Packed records in replies. A table of hundreds of thousands of connections, routes or entries travels as one piece
//! of bytes, which clients read where they need it.
//!
//! Each record is declared here once: its fields stand one after the other, numbers little endian and addresses in
//! network order. What writes a record fills in its type; the offsets that clients read by are generated from the same
//! declaration.

/// The layout of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldLayout {
    /// Name in this crate.
    pub name: &'static str,
    /// Description of the field, with the unit.
    pub doc: &'static str,
    /// Bytes from the beginning of the record.
    pub offset: usize,
}

/// The layout of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Name of its type.
    pub name: &'static str,
    /// Size of a record, bytes.
    pub size: usize,
    /// In the order of their offsets.
    pub fields: Vec<FieldLayout>,
}

/// Names of numbers: values of a field, or bits of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codes {
    /// Name of their module.
    pub name: &'static str,
    /// Name and number, as clients call them.
    pub codes: &'static [(&'static str, u32)],
}

/// A type that a record's fields can have.
trait Packed {
    /// Size, bytes.
    const SIZE: usize;
    /// Writes it to the beginning of `out`, and returns the rest.
    fn put<'a>(&self, out: &'a mut [u8]) -> &'a mut [u8];
}

#[inline]
fn first<const N: usize>(bytes: [u8; N], out: &mut [u8]) -> &mut [u8] {
    match out.split_first_chunk_mut() {
        Some((field, rest)) => {
            *field = bytes;
            rest
        }
        None => &mut [],
    }
}

macro_rules! packed_numbers {
    ($($number:ty)*) => {$(
        impl Packed for $number {
            const SIZE: usize = size_of::<$number>();

            #[inline]
            fn put<'a>(&self, out: &'a mut [u8]) -> &'a mut [u8] {
                first(self.to_le_bytes(), out)
            }
        }
    )*};
}
packed_numbers! { u8 u16 u32 u64 i64 }

/// An address in network order; IPv4 as ::ffff:a.b.c.d.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PackedAddress(pub u128);

impl Packed for PackedAddress {
    const SIZE: usize = 16;

    #[inline]
    fn put<'a>(&self, out: &'a mut [u8]) -> &'a mut [u8] {
        first(self.0.to_be_bytes(), out)
    }
}

macro_rules! record {
    ($(#[$record_doc:meta])* $name:ident { $($(#[doc = $doc:literal])+ $field:ident: $kind:ty,)* }) => {
        $(#[$record_doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $kind,)*
        }

        impl $name {
            /// Size of a record, bytes.
            pub const SIZE: usize = 0 $(+ <$kind as Packed>::SIZE)*;

            /// Appends the record, packed.
            #[inline]
            pub fn write(&self, out: &mut Vec<u8>) {
                let mut record = [0; Self::SIZE];
                self.put(&mut record);
                out.extend_from_slice(&record);
            }

            /// The layout of the record.
            #[must_use]
            pub fn layout() -> Layout {
                let mut offset = 0;
                let mut fields = Vec::new();
                $(
                    fields.push(FieldLayout { name: stringify!($field), doc: concat!($($doc),+).trim_ascii(), offset });
                    offset += <$kind as Packed>::SIZE;
                )*
                Layout { name: stringify!($name), size: offset, fields }
            }
        }

        impl Packed for $name {
            const SIZE: usize = Self::SIZE;

            #[inline]
            fn put<'a>(&self, out: &'a mut [u8]) -> &'a mut [u8] {
                $(let out = self.$field.put(out);)*
                out
            }
        }
    };
}

macro_rules! codes {
    ($(#[$doc:meta])* $module:ident: $kind:ty { $($name:ident $text:literal = $number:literal,)* }) => {
        $(#[$doc])*
        pub mod $module {
            $(
                #[doc = concat!("`", $text, "`")]
                pub const $name: $kind = $number;
            )*
            /// The names of all numbers.
            pub const CODES: super::Codes =
                super::Codes { name: stringify!($module), codes: &[$(($text, $number)),*] };
        }
    };
}

record! {
    /// A record of [`super::ReplyBody::Connections`].
    ConnectionRecord {
        /// Worker in the top byte; an id is not reused while the agent lives.
        id: u64,
        /// IP protocol.
        protocol: u8,
        /// 4 or 6.
        family: u8,
        /// Bits of `connection_flag`.
        flags: u16,
        /// TCP state, one of `tcp_state`; 255 not TCP.
        tcp_state: u8,
        /// ICMP type.
        icmp_type: u8,
        /// ICMP code.
        icmp_code: u8,
        /// Why its packets are not all forwarded by the flow cache: place in the reasons of the statistics from 1, 0
        /// when they are.
        slow_reason: u8,
        /// Original source address.
        src_address: PackedAddress,
        /// Original destination address.
        dst_address: PackedAddress,
        /// Reply source address.
        reply_src_address: PackedAddress,
        /// Reply destination address.
        reply_dst_address: PackedAddress,
        /// Original source port, ICMP id for ICMP.
        src_port: u16,
        /// Original destination port.
        dst_port: u16,
        /// Reply source port.
        reply_src_port: u16,
        /// Reply destination port, ICMP id for ICMP.
        reply_dst_port: u16,
        /// Time to expiry, ms.
        timeout: u32,
        /// Connection mark.
        mark: u32,
        /// Packets, original direction.
        orig_packets: u64,
        /// L3 bytes, original direction.
        orig_bytes: u64,
        /// Packets, reply direction.
        repl_packets: u64,
        /// L3 bytes, reply direction.
        repl_bytes: u64,
        /// Fasttracked packets, original direction.
        orig_fasttrack_packets: u64,
        /// Fasttracked L3 bytes, original direction.
        orig_fasttrack_bytes: u64,
        /// Fasttracked packets, reply direction.
        repl_fasttrack_packets: u64,
        /// Fasttracked L3 bytes, reply direction.
        repl_fasttrack_bytes: u64,
        /// Zone of the first packet, 0 outside of VRFs.
        zone: u16,
    }
}

record! {
    /// A record of [`super::ReplyBody::Queues`].
    QueueRecord {
        /// Row of `/queue/simple` or `/queue/tree`, of an interface for its queue.
        row: u32,
        /// Worker.
        worker: u16,
        /// Part of the queue, one of `queue_part`.
        part: u8,
        /// Zero.
        reserved: u8,
        /// Bytes that passed.
        bytes: u64,
        /// Packets that passed.
        packets: u64,
        /// Packets dropped.
        dropped: u64,
        /// Rate of the last full second, bits/s.
        rate: u64,
        /// Packets/s of the last full second.
        packet_rate: u64,
        /// Bytes waiting.
        queued_bytes: u64,
        /// Packets waiting.
        queued_packets: u32,
        /// Sub-queues in use of PCQ, SFQ, FQ-CoDel and CAKE.
        sub_queues: u32,
        /// Packets for which it borrowed.
        borrows: u64,
        /// Packets for which it lent.
        lends: u64,
        /// Packets marked (ECN).
        marked: u64,
        /// Longest wait of a packet in the last full second, µs.
        longest_wait: u32,
        /// Average wait of those that waited in the last full second, µs.
        average_wait: u32,
        /// TCP segments that came out of order.
        out_of_order: u64,
    }
}

record! {
    /// Events of one direction of a queue in a millisecond.
    TokenBucketPart {
        /// L3 bytes that passed.
        passed: u32,
        /// Packets dropped.
        dropped: u32,
        /// L3 bytes waiting at the end.
        waiting: u32,
        /// Tokens at the end, bits; below zero what was passed in advance.
        tokens: i64,
        /// Longest wait of a packet that passed, µs.
        longest_wait: u32,
        /// Rate at which tokens came, kbit/s.
        rate_kbit: u32,
    }
}

record! {
    /// A record of [`super::ReplyBody::TokenBucket`].
    TokenBucketRecord {
        /// Number of the millisecond, monotonic time.
        millisecond: u64,
        /// Upload of a simple queue, all of a node of a tree.
        upload: TokenBucketPart,
        /// Download of a simple queue.
        download: TokenBucketPart,
    }
}

record! {
    /// A record of [`super::ReplyBody::Routes`].
    RouteRecord {
        /// Destination network, as a number.
        destination: u32,
        /// Bits.
        prefix_len: u8,
        /// 0 for connected.
        distance: u8,
        /// Bits of `route_flag`.
        flags: u16,
        /// Routing protocol number (rtnetlink(7)) of a route of another program, 0 of others.
        protocol: u16,
        /// Number of its table, 0 for the main table.
        table: u16,
        /// Address of the neighbour that packets are sent to, as a number; 0 without one.
        gateway: u32,
        /// Interface row that it leaves by; 0 when it leads nowhere.
        interface: u32,
        /// Row of a configured route; row of the address that a connected one follows from.
        row: u32,
        /// Metric of a route of another program.
        metric: u32,
    }
}

record! {
    /// A record of [`super::ReplyBody::Ipv6Routes`].
    Ipv6RouteRecord {
        /// Destination network.
        destination: PackedAddress,
        /// Next hop's address; the unspecified one without one.
        gateway: PackedAddress,
        /// Bits.
        prefix_len: u8,
        /// 0 for connected.
        distance: u8,
        /// Bits of `route_flag`.
        flags: u16,
        /// Routing protocol number (rtnetlink(7)) of a route of another program, 0 of others.
        protocol: u16,
        /// Number of its table, 0 for the main table.
        table: u16,
        /// Interface row that it leaves by; 0 when it leads nowhere.
        interface: u32,
        /// Row of a configured route; row of the address that a connected one follows from.
        row: u32,
        /// Metric of a route of another program.
        metric: u32,
    }
}

record! {
    /// A record of [`super::ReplyBody::AddressListEntries`].
    AddressListRecord {
        /// Position in the names of the lists.
        list: u32,
        /// 4 or 6.
        family: u8,
        /// Bits.
        prefix_len: u8,
        /// Zero.
        reserved: u16,
        /// The network.
        address: PackedAddress,
        /// Time left, ms; `NO_END` without end.
        left: u32,
        /// Age, s.
        age: u32,
    }
}

/// [`AddressListRecord::left`] of an entry that stays until the agent ends.
pub const NO_END: u32 = u32::MAX;

codes! {
    /// Bits of [`ConnectionRecord::flags`].
    connection_flag: u16 {
        SEEN_REPLY "seen-reply" = 1,
        ASSURED "assured" = 2,
        CONFIRMED "confirmed" = 4,
        FASTTRACK "fasttrack" = 8,
        SRCNAT "srcnat" = 16,
        DSTNAT "dstnat" = 32,
        DYING "dying" = 64,
        HW_OFFLOAD "hw-offload" = 128,
    }
}

codes! {
    /// Values of [`ConnectionRecord::tcp_state`].
    tcp_state: u8 {
        NONE "none" = 0,
        SYN_SENT "syn-sent" = 1,
        SYN_RECV "syn-recv" = 2,
        ESTABLISHED "established" = 3,
        FIN_WAIT "fin-wait" = 4,
        CLOSE_WAIT "close-wait" = 5,
        LAST_ACK "last-ack" = 6,
        TIME_WAIT "time-wait" = 7,
        CLOSE "close" = 8,
        LISTEN "listen" = 9,
    }
}

codes! {
    /// Values of [`QueueRecord::part`]: the directions of a simple queue and all of it, a node of a tree, the queue of
    /// an interface.
    queue_part: u8 {
        UPLOAD "upload" = 0,
        DOWNLOAD "download" = 1,
        TOTAL "total" = 2,
        WHOLE "whole" = 3,
        INTERFACE "interface" = 4,
    }
}

codes! {
    /// Bits of [`RouteRecord::flags`]: in the forwarding table, where it is from, what it does with packets, and whether
    /// it has more next hops. A configured route has a record for each next hop, one after the other: those behind the
    /// first are `further`.
    route_flag: u16 {
        ACTIVE "active" = 1,
        CONNECTED "connected" = 2,
        STATIC "static" = 4,
        BLACKHOLE "blackhole" = 8,
        UNREACHABLE "unreachable" = 16,
        PROHIBIT "prohibit" = 32,
        MULTIPATH "multipath" = 64,
        ECMP "ecmp" = 128,
        FURTHER "further" = 256,
    }
}

/// Every record.
#[must_use]
pub fn layouts() -> Vec<Layout> {
    vec![
        ConnectionRecord::layout(),
        QueueRecord::layout(),
        TokenBucketRecord::layout(),
        TokenBucketPart::layout(),
        RouteRecord::layout(),
        Ipv6RouteRecord::layout(),
        AddressListRecord::layout(),
    ]
}

/// Names of numbers in records.
pub const CODES: [Codes; 4] =
    [connection_flag::CODES, tcp_state::CODES, queue_part::CODES, route_flag::CODES];
