//! Which packets are a flow where a route has several next hops.

use tollway_config::dataplane::MultipathHash;

use crate::packet::key::mix;
use crate::packet::tuple::Tuple;

/// Hash of the flow of a packet, of which [`Table::lookup_for`](super::fib::Table::lookup_for) chooses a next hop. The
/// tuple is that by which the packet is routed. It is the same in every worker, and after a restart: a connection whose
/// source is translated to the address of an uplink could not go on by another one.
pub fn flow_hash(policy: MultipathHash, tuple: &Tuple) -> u32 {
    let half = |address: u128, factor: u64| mix(address as u64 ^ factor, (address >> 64) as u64 ^ factor);
    let addresses = mix(
        half(tuple.src.0, 0x8ebc_6af0_9c88_c6e3) ^ 0x9e37_79b9_7f4a_7c15,
        half(tuple.dst.0, 0x5899_65cc_7537_4cc3) ^ 0xe703_7ed1_a0b4_28db,
    );
    let hash = match policy {
        MultipathHash::L3 => addresses,
        MultipathHash::L4 => {
            let ports = u64::from(tuple.src_port) << 16 | u64::from(tuple.dst_port);
            mix(addresses, ports << 8 | u64::from(tuple.protocol) | 1 << 63)
        }
    };
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tuple::Addr;

    #[test]
    fn the_policy_says_whether_ports_make_another_flow() {
        let tuple = |src_port| Tuple {
            src: Addr::v4(0x0a00_0002),
            dst: Addr::v4(0xc633_640a),
            src_port,
            dst_port: 443,
            protocol: 6,
            icmp: 0,
            zone: 0,
        };
        let [l3, l4] = [MultipathHash::L3, MultipathHash::L4].map(|policy| {
            (0..64).map(|port| flow_hash(policy, &tuple(port))).collect::<std::collections::HashSet<_>>()
        });
        assert_eq!((l3.len(), l4.len()), (1, 64));
        let back = Tuple { src: tuple(1).dst, dst: tuple(1).src, ..tuple(1) };
        assert_ne!(flow_hash(MultipathHash::L3, &back), flow_hash(MultipathHash::L3, &tuple(1)));
    }
}
