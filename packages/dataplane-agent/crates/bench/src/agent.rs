//! A client of the agent's socket, as far as the bench needs one.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::json;
use tollway_config::dataplane::{DataplaneConfig, InterfaceKind, IoChoice};
use tollway_config::framing::{Decoder, encode_request, message_from_msgpack};
use tollway_config::protocol::{IoBackend, Message, PROTOCOL, QUEUE_RECORD, ReplyBody, Request, RequestBody};

use crate::args::Args;
use crate::scenario::Scenario;

/// A connection on which `hello` was said.
pub struct Agent {
    stream: UnixStream,
    decoder: Decoder,
    next_id: u32,
    revision: u64,
}

impl Agent {
    /// Connects to the agent's socket.
    pub fn connect(path: &str) -> Result<Self, String> {
        let stream = UnixStream::connect(path).map_err(|error| format!("{path}: {error}"))?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).map_err(|error| error.to_string())?;
        let mut agent = Self { stream, decoder: Decoder::default(), next_id: 1, revision: 0 };
        match agent.ask(RequestBody::Hello { protocol: PROTOCOL })? {
            ReplyBody::Hello { revision, .. } => agent.revision = revision,
            other => return Err(format!("unexpected reply to hello: {other:?}")),
        }
        Ok(agent)
    }

    /// Revision of the active configuration.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The backend of the ports, once they have the one asked for. They are opened anew after the
    /// configuration is active.
    fn backend(&mut self, asked: IoChoice) -> Result<&'static str, String> {
        let wanted = if asked == IoChoice::AfXdp { IoBackend::AfXdp } else { IoBackend::AfPacket };
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let ports = match self.ask(RequestBody::Hello { protocol: PROTOCOL })? {
                ReplyBody::Hello { ports, .. } => ports,
                other => return Err(format!("unexpected reply to hello: {other:?}")),
            };
            match ports.iter().find(|port| port.io != wanted) {
                None => return Ok(if wanted == IoBackend::AfXdp { "af-xdp" } else { "af-packet" }),
                Some(port) if Instant::now() > deadline => {
                    return Err(format!("{}: {}", port.netdev, port.io_reason));
                }
                Some(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// Sends a request and waits for its reply, passing over events.
    pub fn ask(&mut self, body: RequestBody) -> Result<ReplyBody, String> {
        self.ask_timed(body).map(|(reply, _)| reply)
    }

    /// Asks like [`Self::ask`], with the time from the first byte of the request to the last of the reply.
    pub fn ask_timed(&mut self, body: RequestBody) -> Result<(ReplyBody, Duration), String> {
        let id = self.next_id;
        self.next_id += 1;
        let frame = encode_request(&Request { id, body })?;
        let began = Instant::now();
        self.stream.write_all(&frame).map_err(|error| format!("agent: {error}"))?;
        loop {
            match self.receive()? {
                Message::Reply(reply) if reply.id == id => return Ok((reply.body, began.elapsed())),
                Message::Error(error) if error.id == id => return Err(format!("agent: {}", error.message)),
                _ => {}
            }
        }
    }

    /// Makes a configuration the active one. Says how long preparing and activating took.
    pub fn activate(&mut self, config: DataplaneConfig) -> Result<(Duration, Duration), String> {
        let (base, revision) = (self.revision, self.revision + 1);
        let (reply, preparing) =
            self.ask_timed(RequestBody::Prepare { base, revision, config: Box::new(config) })?;
        let ReplyBody::Prepared { token } = reply else {
            return Err(format!("unexpected reply to prepare: {reply:?}"));
        };
        match self.ask_timed(RequestBody::Activate { token })? {
            (ReplyBody::Activated { revision: active, .. }, activating) if active == revision => {
                self.revision = revision;
                Ok((preparing, activating))
            }
            (other, _) => Err(format!("unexpected reply to activate: {other:?}")),
        }
    }

    fn receive(&mut self) -> Result<Message, String> {
        loop {
            if let Some(frame) = self.decoder.next_frame().map_err(|error| format!("agent: {error:?}"))? {
                return message_from_msgpack(frame).map_err(|error| format!("agent: {error}"));
            }
            let mut bytes = [0; 65_536];
            let read = self.stream.read(&mut bytes).map_err(|error| format!("agent: {error}"))?;
            if read == 0 {
                return Err("agent: it has closed the connection".to_owned());
            }
            self.decoder.extend(bytes.get(..read).unwrap_or_default());
        }
    }
}

/// Activates `--scenario` with ports by `--io`, and prints which backend they got.
pub fn configure(args: &Args) -> Result<(), String> {
    let config = scenario_of(args)?;
    let io = config.interfaces.first().map_or(IoChoice::Auto, |interface| interface.kind.io());
    let mut agent = Agent::connect(&args.required::<String>("socket")?)?;
    let flow_offload = config.settings.flow_offload;
    agent.activate(config)?;
    let backend = agent.backend(io)?;
    println!("{backend}{}", if flow_offload { ", flow-offload" } else { "" });
    Ok(())
}

/// The configuration that `--scenario`, `--io` and the neighbours' addresses name.
pub fn scenario_of(args: &Args) -> Result<DataplaneConfig, String> {
    let scenario = Scenario::by_name(&args.required::<String>("scenario")?)?;
    let io = args.optional::<String>("io")?;
    let flow_offload = io.as_deref() == Some("flow-offload");
    let io = match io.as_deref() {
        Some("flow-offload") => IoChoice::AfPacket,
        None | Some("auto") => IoChoice::Auto,
        Some("af-packet") => IoChoice::AfPacket,
        Some("af-xdp") => IoChoice::AfXdp,
        Some(other) => return Err(format!("--io does not accept \"{other}\"")),
    };
    let mut config = scenario.config(args.mac("lan-mac")?, args.mac("wan-mac")?);
    for interface in &mut config.interfaces {
        if let InterfaceKind::Ethernet { io: choice, .. } = &mut interface.kind {
            *choice = io;
        }
    }
    config.settings.flow_offload = flow_offload;
    Ok(config)
}

/// Prints the agent's counters as JSON.
pub fn stats(args: &Args) -> Result<(), String> {
    let mut agent = Agent::connect(&args.required::<String>("socket")?)?;
    match agent.ask(RequestBody::Stats)? {
        ReplyBody::Stats(stats) => {
            println!("{}", serde_json::to_string(&stats).map_err(|error| error.to_string())?);
            Ok(())
        }
        other => Err(format!("unexpected reply to stats: {other:?}")),
    }
}

/// Prints what passed the agent's simple queues, all together: L3 bytes up and down, packets dropped.
pub fn queues(args: &Args) -> Result<(), String> {
    let mut agent = Agent::connect(&args.required::<String>("socket")?)?;
    let records = match agent.ask(RequestBody::Queues)? {
        ReplyBody::Queues { records, .. } => records,
        other => return Err(format!("unexpected reply to queues: {other:?}")),
    };
    let sum = |at: usize, parts: &[u8]| -> u64 {
        let of_parts = records.chunks_exact(QUEUE_RECORD).filter(|record| parts.contains(&record[6]));
        let fields = of_parts.filter_map(|record| record.get(at..at + 8));
        fields.filter_map(|field| field.try_into().ok()).map(u64::from_le_bytes).sum()
    };
    let dropped = sum(24, &[0, 1]);
    println!("{}", json!({ "upload": sum(8, &[0]), "download": sum(8, &[1]), "dropped": dropped }));
    Ok(())
}
