//! The choice of the backend of a port.

use tollway_config::dataplane::IoChoice;
use tollway_config::protocol::IoBackend;
use tollway_io::xdp::device::Device;

/// A chosen backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Backend to open the port with.
    pub backend: IoBackend,
    /// Why, for people.
    pub reason: String,
}

/// Chooses the backend for a netdev.
pub fn choose(wanted: IoChoice, device: &Device) -> Choice {
    let driver = if device.driver.is_empty() { "unknown" } else { device.driver.as_str() };
    let (backend, reason) = match wanted {
        IoChoice::AfPacket => (IoBackend::AfPacket, "chosen in the configuration".to_owned()),
        IoChoice::AfXdp => (IoBackend::AfXdp, "chosen in the configuration".to_owned()),
        IoChoice::Auto if device.is_virtual() => (
            IoBackend::AfPacket,
            format!(
                "the link is virtual (driver {driver}): super-frames and partial checksums pass as they are"
            ),
        ),
        IoChoice::Auto if device.native_xdp => {
            (IoBackend::AfXdp, format!("the driver {driver} gives frames to AF_XDP sockets by itself"))
        }
        IoChoice::Auto => (
            IoBackend::AfPacket,
            format!("the driver {driver} does not give frames to AF_XDP sockets by itself"),
        ),
    };
    Choice { backend, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(wanted: IoChoice, driver: &str, native_xdp: bool) -> IoBackend {
        let device = Device { driver: driver.to_owned(), queues: 4, native_xdp };
        let choice = choose(wanted, &device);
        assert!(wanted != IoChoice::Auto || choice.reason.contains(driver), "{}", choice.reason);
        choice.backend
    }

    #[test]
    fn auto_takes_af_xdp_for_network_cards_whose_driver_has_it() {
        assert_eq!(backend(IoChoice::Auto, "ixgbe", true), IoBackend::AfXdp);
        assert_eq!(backend(IoChoice::Auto, "mlx5_core", true), IoBackend::AfXdp);
        assert_eq!(backend(IoChoice::Auto, "r8169", false), IoBackend::AfPacket);
    }

    #[test]
    fn auto_takes_packet_sockets_for_virtual_links_whatever_their_driver_has() {
        for driver in ["veth", "tun", "virtio_net", "macvlan"] {
            for native in [false, true] {
                assert_eq!(backend(IoChoice::Auto, driver, native), IoBackend::AfPacket);
            }
        }
        assert_eq!(choose(IoChoice::Auto, &Device::default()).backend, IoBackend::AfPacket);
    }

    #[test]
    fn what_the_configuration_says_holds_for_every_driver() {
        for driver in ["veth", "ixgbe", "r8169"] {
            for native in [false, true] {
                assert_eq!(backend(IoChoice::AfXdp, driver, native), IoBackend::AfXdp);
                assert_eq!(backend(IoChoice::AfPacket, driver, native), IoBackend::AfPacket);
            }
        }
    }
}
