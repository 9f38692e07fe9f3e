//! The agent as it ships, on memory ports with its own traffic: real worker threads, its socket, its files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so and stop")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tollway_config::dataplane::DataplaneConfig;
use tollway_config::protocol::{Message, PROTOCOL, ReplyBody, Request, RequestBody, Stats};
use tollway_testkit::RouterConfig;
use tollway_worker::framing::{Decoder, encode, from_msgpack};
use tollway_worker::options::Options;
use tollway_worker::{Stop, run};

const WORKERS: usize = 2;
const PATIENCE: Duration = Duration::from_secs(20);

/// An agent of one test, in a folder of its own.
struct Agent {
    options: Options,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Agent {
    fn start(folder: &Path) -> Self {
        let options = Options {
            socket: folder.join("agent.sock"),
            data_dir: folder.to_owned(),
            netns_name: "tollway-live-test".to_owned(),
            ports: Vec::new(),
            memory: true,
            take_over: false,
            workers: Some(WORKERS),
        };
        let stop = Stop::new().unwrap();
        let (theirs, ends) = (options.clone(), stop.clone());
        let thread = std::thread::spawn(move || run(&theirs, &ends).unwrap());
        Self { options, stop, thread: Some(thread) }
    }

    fn client(&self) -> Client {
        let began = Instant::now();
        loop {
            match UnixStream::connect(&self.options.socket) {
                Ok(stream) => return Client::greet(stream),
                Err(error) => assert!(began.elapsed() < PATIENCE, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            assert!(std::thread::panicking(), "the agent failed");
        }
    }
}

/// A client that has said hello.
struct Client {
    stream: UnixStream,
    decoder: Decoder,
    id: u32,
    revision: u64,
    /// What the agent has logged.
    log: Vec<String>,
}

impl Client {
    fn greet(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Self { stream, decoder: Decoder::default(), id: 0, revision: 0, log: Vec::new() };
        let ReplyBody::Hello { revision, .. } = client.ask(RequestBody::Hello { protocol: PROTOCOL }) else {
            panic!("no answer to hello");
        };
        client.revision = revision;
        client
    }

    fn ask(&mut self, body: RequestBody) -> ReplyBody {
        self.id += 1;
        self.stream.write_all(&encode(&Request { id: self.id, body }).unwrap()).unwrap();
        loop {
            while let Some(frame) = self.decoder.next_frame().unwrap() {
                match from_msgpack(frame).unwrap() {
                    Message::Reply(reply) if reply.id == self.id => return reply.body,
                    Message::Error(error) => panic!("{}", error.message),
                    other => self.log.push(format!("{other:?}")),
                }
            }
            let mut bytes = [0; 65_536];
            let read = self.stream.read(&mut bytes).unwrap();
            assert_ne!(read, 0, "the agent has gone");
            self.decoder.extend(&bytes[..read]);
        }
    }

    fn activate(&mut self, config: DataplaneConfig) {
        let (base, revision) = (self.revision, self.revision + 1);
        let prepared = self.ask(RequestBody::Prepare { base, revision, config: Box::new(config) });
        let ReplyBody::Prepared { token } = prepared else { panic!("{prepared:?}") };
        self.ask(RequestBody::Activate { token });
        self.revision = revision;
    }

    fn stats(&mut self) -> Stats {
        match self.ask(RequestBody::Stats) {
            ReplyBody::Stats(stats) => *stats,
            other => panic!("{other:?}"),
        }
    }

    /// Packets that were forwarded.
    fn forwarded(&mut self) -> u64 {
        self.stats().interfaces.iter().map(|interface| interface.tx_packets).min().unwrap_or(0)
    }

    fn wait_until(&mut self, what: &str, mut is: impl FnMut(&mut Self) -> bool) {
        let began = Instant::now();
        while !is(self) {
            assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}; {:?}", self.log);
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tollway-live-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Between the generator's hosts and its servers.
fn router() -> RouterConfig {
    RouterConfig::new().interface("192.168.88.1/24").interface("198.51.100.1/24")
}

/// The file of the active configuration is damaged in every way: the agent forwards by the one before, before any API
/// has spoken to it, and says so.
#[test]
fn a_damaged_configuration_gives_way_to_the_one_before() {
    let folder = Folder::new("damaged");
    let active = folder.0.join("agent").join("active.tollway");
    {
        let agent = Agent::start(&folder.0);
        let mut client = agent.client();
        client.activate(router().config);
    }
    for (number, damage) in ["truncated", "flipped", "empty", "missing"].into_iter().enumerate() {
        {
            // The newest one does not forward: nobody takes it for the one before.
            let agent = Agent::start(&folder.0);
            let mut client = agent.client();
            assert_eq!(client.revision, 1 + 2 * number as u64);
            client.activate(DataplaneConfig::default());
        }
        let bytes = fs::read(&active).unwrap();
        match damage {
            "truncated" => fs::write(&active, &bytes[..bytes.len() / 2]).unwrap(),
            "flipped" => {
                let flipped: Vec<u8> = bytes
                    .iter()
                    .enumerate()
                    .map(|(at, byte)| byte ^ u8::from(at == bytes.len() / 2))
                    .collect();
                fs::write(&active, flipped).unwrap();
            }
            "empty" => fs::write(&active, b"").unwrap(),
            _ => fs::remove_file(&active).unwrap(),
        }
        let agent = Agent::start(&folder.0);
        let mut client = agent.client();
        assert_eq!(client.revision, 1 + 2 * number as u64, "{damage}");
        client.wait_until("packets are forwarded", |client| client.forwarded() > 10);
        let says = format!("starting with the configuration of revision {}", client.revision);
        assert!(client.log.iter().any(|line| line.contains(&says)), "{damage}: {:?}", client.log);
        // The next turn begins with it, activated anew.
        client.activate(router().config);
        client.activate(router().config);
    }
}
