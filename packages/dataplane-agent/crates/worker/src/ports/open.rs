//! Opening a port: claims its netdev, sets its MTU, and gives every worker a socket on it.

use std::os::fd::{AsFd, OwnedFd};

use tollway_config::protocol::IoBackend;
use tollway_engine::ids::PortId;
use tollway_io::Port;
use tollway_io::af_packet::{self, Receive};
use tollway_io::claim::Claim;
use tollway_io::link::Link;
use tollway_io::pool::Umem;
use tollway_io::xdp::device::Device;
use tollway_io::xdp::{self, XdpMode};

use super::PortState;
use super::flow_offload::FlowOffload;
use crate::commands::Command;
use crate::port_backend::{Choice, choose};
use crate::workers::{WorkerLost, Workers};

/// Whether a netdev's packets have become too long for the frames that they are received in.
fn is_too_long(port: &PortState, link: &Link) -> bool {
    port.io == IoBackend::AfXdp && link.mtu > xdp::MAX_MTU
}

/// Claims a port's netdev unless it is open, and so claimed already. Nothing about the netdev may be changed before:
/// the claim records its former state.
pub(super) fn claimed(port: &PortState, claim: &Claim) -> Result<(), String> {
    if port.opened.is_some() {
        return Ok(());
    }
    claim.take_one(&port.netdev).map_err(|error| error.to_string())
}

/// Sets a netdev's MTU so that it carries the longest packets its interface may send; gives back its own MTU when that
/// is enough again. Returns a message for the log.
pub(super) fn fit_mtu(
    index: usize,
    port: &mut PortState,
    link: &mut Link,
    claim: &Claim,
    workers: &mut Workers,
    offload: &mut FlowOffload,
) -> Result<Option<String>, WorkerLost> {
    let is_short = link.mtu < port.mtu && port.mtu_refused != Some(port.mtu);
    let is_ours = port.mtu_given == Some(link.mtu) && link.mtu > port.mtu;
    if !is_short && !is_ours {
        return Ok(None);
    }
    let mut given = claim.set_mtu(&link.name, port.mtu);
    if given.is_err() && port.io == IoBackend::AfXdp && port.opened.is_some() {
        // With an XDP program a driver accepts no frames that are longer than a page.
        offload.forget(index, port, workers)?;
        workers.ask(|_| Command::SetPort(index as PortId, None))?;
        port.reopen = true;
        given = claim.set_mtu(&link.name, port.mtu);
    }
    match given {
        Ok(mtu) => {
            link.mtu = mtu;
            (port.mtu_given, port.mtu_refused) = (Some(mtu), None);
            Ok(None)
        }
        Err(error) => {
            port.mtu_refused = Some(port.mtu);
            let (name, mtu) = (&port.name, port.mtu);
            Ok(Some(format!("{name} ({}) does not carry packets of {mtu} bytes: {error}", port.netdev)))
        }
    }
}

/// Gives every worker a socket on a netdev that is [`claimed`], unless it is already open with the right settings.
/// Returns a message for the log.
pub(super) fn open(
    index: usize,
    port: &mut PortState,
    link: &Link,
    claim: &Claim,
    workers: &mut Workers,
    umem: Option<&'static Umem>,
    offload: &mut FlowOffload,
) -> Result<Result<Option<String>, String>, WorkerLost> {
    let device = Device::of(&link.name, link.index);
    let Choice { backend, reason } = choose(port.wanted_io, &device);
    if !std::mem::take(&mut port.reopen)
        && let Some((decided, mtu)) = port.opened
        && decided == backend
        // With another MTU AF_XDP may accept a netdev that it refused, and the other way round.
        && (mtu == link.mtu || port.io == decided && !is_too_long(port, link))
    {
        return Ok(Ok(port.decide_for(reason)));
    }
    let again = port.opened.take().is_some();
    if again {
        offload.forget(index, port, workers)?;
        // With both backends at the same time every frame would be received twice, or not at all.
        workers.ask(|_| Command::SetPort(index as PortId, None))?;
    }
    let opened = sockets((backend, port.receive), reason.clone(), link, &device, workers.len(), umem);
    let (ends, io, io_reason) = match opened {
        Ok(opened) => opened,
        Err(reason) => return Ok(Err(reason)),
    };
    port.rings = ends.iter().filter_map(Port::watch).collect();
    claim.set_frames_as_received(&port.netdev, io == IoBackend::AfXdp);
    (port.io, port.io_reason, port.choice_reason) = (io, io_reason, reason);
    port.opened = Some((backend, link.mtu));
    port.sockets = ends.iter().filter_map(packet_socket).collect();
    let mut ends = ends.into_iter();
    workers.ask(|_| Command::SetPort(index as PortId, ends.next()))?;
    let is_news = again || io != backend;
    Ok(Ok(is_news.then(|| port.uses())))
}

/// Opens a netdev with the backend that was decided on, or with packet sockets when it refuses AF_XDP.
/// Returns the ends, the backend, and why.
fn sockets(
    (backend, receive): (IoBackend, Receive),
    mut reason: String,
    link: &Link,
    device: &Device,
    workers: usize,
    umem: Option<&'static Umem>,
) -> Result<(Vec<Port>, IoBackend, String), String> {
    if backend == IoBackend::AfXdp {
        let opened = umem
            .ok_or_else(|| "there is no frame pool for it".to_owned())
            .and_then(|umem| xdp::open(umem, link, device, workers, &[XdpMode::Native, XdpMode::Generic]));
        match opened {
            Ok(opened) => {
                let ends = opened.ports.into_iter().map(Port::Xdp).collect();
                return Ok((ends, IoBackend::AfXdp, format!("{reason}; {}", opened.how)));
            }
            Err(refused) => reason = format!("AF_XDP was {reason}, but is not possible: {refused}"),
        }
    }
    let sockets = af_packet::open(link.index, workers, receive).map_err(|error| error.to_string())?;
    if receive == Receive::Queue {
        reason +=
            "; without rings, for the kernel stopped one at a frame that no virtio-net header describes";
    }
    if let Some(error) = &sockets.fanout_refused {
        reason += &format!("; one worker receives for all, fanout was refused: {error}");
    }
    Ok((sockets.ports.into_iter().map(Port::AfPacket).collect(), IoBackend::AfPacket, reason))
}

/// Another descriptor of a packet socket.
fn packet_socket(port: &Port) -> Option<OwnedFd> {
    match port {
        Port::AfPacket(port) => port.as_fd().try_clone_to_owned().ok(),
        Port::Xdp(_) | Port::Memory(_) => None,
    }
}
