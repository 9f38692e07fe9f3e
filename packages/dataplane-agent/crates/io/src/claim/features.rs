//! Settings of a netdev that a claim changes: offloads (ethtool) and IPv6 (sysctl).

use std::fs;

use super::error::ClaimError;
use crate::xdp::device::ethtool;

/// A netdev feature: ethtool's commands to read and to set it, and its bit in their data (linux/ethtool.h).
#[derive(Clone, Copy)]
pub(super) struct Feature {
    read: u32,
    set: u32,
    bit: u32,
}

/// Large receive offload loses the original segment sizes, so frames merged by it cannot be forwarded.
/// Most devices do not have it.
pub(super) const LRO: Feature = Feature { read: 0x25, set: 0x26, bit: 1 << 15 };
/// VLAN tags are stripped from received frames.
pub(super) const RX_VLAN: Feature = Feature { read: 0x25, set: 0x26, bit: 1 << 8 };
/// Generic receive offload: the kernel merges segments.
pub(super) const GRO: Feature = Feature { read: 0x2b, set: 0x2c, bit: 1 };

/// `struct ethtool_value` (linux/ethtool.h).
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Whether a feature is on.
pub(super) fn has_feature(netdev: &str, feature: Feature) -> bool {
    let mut value = EthtoolValue { command: feature.read, data: 0 };
    ethtool(netdev, &mut value).is_ok() && value.data & feature.bit != 0
}

/// Switches a feature. A device that does not support the change keeps its state.
pub(super) fn set_feature(netdev: &str, feature: Feature, on: bool) {
    let mut value = EthtoolValue { command: feature.read, data: 0 };
    if ethtool(netdev, &mut value).is_err() || (value.data & feature.bit != 0) == on {
        return;
    }
    let mut value = EthtoolValue { command: feature.set, data: value.data ^ feature.bit };
    let _ = ethtool(netdev, &mut value);
}

/// The sysctl that keeps IPv6 off a netdev.
pub(super) fn disable_ipv6_path(netdev: &str) -> String {
    format!("/proc/sys/net/ipv6/conf/{netdev}/disable_ipv6")
}

/// Writes that sysctl.
///
/// # Errors
/// When it cannot be written although the kernel has IPv6.
pub(super) fn set_disable_ipv6(netdev: &str, value: &str) -> Result<(), ClaimError> {
    match fs::write(disable_ipv6_path(netdev), value) {
        // A kernel without IPv6 has nothing to switch off.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        result => result.map_err(ClaimError::from),
    }
}
