//! Writes inputs for fuzzing to begin with into a directory per target: `seeds DIRECTORY`.

use std::path::Path;

use tollway_config::dataplane::{Action, DataplaneConfig};
use tollway_config::framing::{encode_request, to_msgpack};
use tollway_config::protocol::{Request, RequestBody, TraceFilter};
use tollway_engine::flow::conntrack::{Change, Translated};
use tollway_engine::packet::tuple::{Addr, Tuple};
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::{PacketBuilder, RouterConfig, rule};
use tollway_worker::active;
use tollway_worker::journal::Journal;

fn main() -> Result<(), String> {
    let into = std::env::args().nth(1).ok_or("usage: seeds DIRECTORY")?;
    let into = Path::new(&into);
    let config = config();
    write(into, "configuration", "defaults", &to_msgpack(&DataplaneConfig::default())?)?;
    write(into, "configuration", "router", &to_msgpack(&config)?)?;
    for (name, body) in [
        ("hello", RequestBody::Hello { protocol: tollway_config::protocol::PROTOCOL }),
        ("prepare", RequestBody::Prepare { base: 1, revision: 2, config: Box::new(config.clone()) }),
        ("remove-connections", RequestBody::RemoveConnections { ids: vec![1, 2] }),
        ("trace", RequestBody::StartTrace { filter: TraceFilter::default(), packets: 10 }),
    ] {
        write(into, "control", name, &encode_request(&Request { id: 1, body })?)?;
    }
    let file = into.join("written");
    let written = active::write_pending(&file, 1, 1, &config).and_then(active::PendingFile::activate);
    written.map_err(|error| error.to_string())?;
    let bytes = std::fs::read(&file).map_err(|error| error.to_string())?;
    write(into, "active", "router", &bytes)?;
    std::fs::remove_file(&file).map_err(|error| error.to_string())?;
    let mut sequence = Vec::new();
    for packet in packets() {
        write(into, "headers", &format!("packet-{:02}", sequence.len() % 97), &packet)?;
        sequence.push(0);
        sequence.extend((packet.len() as u16).to_be_bytes());
        sequence.extend(packet);
    }
    write(into, "frames", "packets", &sequence)?;
    let bytes: Vec<u8> = (0..2000_u32).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
    write(into, "packets", "bytes", &bytes)?;
    write(into, "journal", "connections", &journal(&into.join("written"))?)
}

/// A journal in which a connection came and went, and another one stayed.
fn journal(path: &Path) -> Result<Vec<u8>, String> {
    let tuple = |port| Tuple {
        src: Addr::v4(0xc0a8_580a),
        dst: Addr::v4(0xcb00_7105),
        src_port: port,
        dst_port: 80,
        protocol: 6,
        icmp: 0,
        zone: 0,
    };
    let translated = |port| Translated {
        original: tuple(port),
        reply: tuple(port).reversed(),
        srcnat: true,
        dstnat: false,
        masquerade: 2,
        mark: 0,
    };
    let (mut journal, _) = Journal::open(path);
    journal.note(Change::Appeared(translated(4000)));
    journal.note(Change::Appeared(translated(4001)));
    journal.note(Change::Ended(tuple(4000)));
    journal.flush().map_err(|error| error.to_string())?;
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    std::fs::remove_file(path).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn config() -> DataplaneConfig {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .address_list("known", &["192.168.88.10", "10.2.0.0/25"])
        .filter("forward", rule().protocol(6).dst_port(25).drop())
        .filter("input", rule().tcp_flags(2, 16).log("seen").then(Action::Log))
        .nat("srcnat", rule().out_interface(2).masquerade())
        .queue(&["192.168.88.0/25"], 1_000_000, 0);
    config.config
}

fn packets() -> Vec<Vec<u8>> {
    let to = |outside| PacketBuilder::ipv4("192.168.88.10", outside).eth_dst([2, 0, 0, 1, 0, 0]);
    vec![
        to("203.0.113.5").udp(4000, 53).payload_len(20).build(),
        to("203.0.113.5").tcp(4001, 80, tcp_flag::SYN, 1, 0).tcp_options(&[2, 4, 5, 180, 4, 2, 1, 1]).build(),
        to("192.168.88.1").echo_request(7, 1).payload_len(56).build(),
        to("203.0.113.5").ip_options(&[148, 4, 0, 0]).udp(4000, 53).build(),
        to("203.0.113.5").udp(4000, 53).payload_len(300).build_fragments(120).remove(1),
    ]
}

fn write(into: &Path, target: &str, name: &str, bytes: &[u8]) -> Result<(), String> {
    let directory = into.join(target);
    let result =
        std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(directory.join(name), bytes));
    result.map_err(|error| error.to_string())
}
