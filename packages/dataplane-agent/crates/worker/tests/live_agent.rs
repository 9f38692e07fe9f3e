//! The agent as it ships, on memory ports with its own traffic: real worker threads, its socket, its files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so and stop")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tollway_config::dataplane::{DataplaneConfig, Matcher};
use tollway_config::framing::{Decoder, encode_request, message_from_msgpack};
use tollway_config::protocol::{
    Message, PROTOCOL, ReplyBody, Request, RequestBody, Stats, TOKEN_BUCKET_RECORD,
};
use tollway_testkit::{Folder, RouterConfig, rule};
use tollway_worker::options::Options;
use tollway_worker::{Stop, run};

const WORKERS: usize = 2;
const DEADLINE: Duration = Duration::from_secs(20);

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
                Err(error) => assert!(began.elapsed() < DEADLINE, "{error}"),
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
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut client = Self { stream, decoder: Decoder::default(), id: 0, revision: 0, log: Vec::new() };
        let ReplyBody::Hello { revision, .. } = client.ask(RequestBody::Hello { protocol: PROTOCOL }) else {
            panic!("no answer to hello");
        };
        client.revision = revision;
        client
    }

    fn ask(&mut self, body: RequestBody) -> ReplyBody {
        self.id += 1;
        self.stream.write_all(&encode_request(&Request { id: self.id, body }).unwrap()).unwrap();
        loop {
            while let Some(frame) = self.decoder.next_frame().unwrap() {
                match message_from_msgpack(frame).unwrap() {
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
            assert!(began.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}; {:?}", self.log);
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Between the generator's hosts and its servers.
fn router() -> RouterConfig {
    RouterConfig::new().interface("192.168.88.1/24").interface("198.51.100.1/24")
}

/// A queue is with one worker at a time, whose bucket is the queue's: what the others tell of it is not added to it.
#[test]
fn two_workers_tell_of_one_bucket() {
    const LIMIT: u64 = 300_000;
    let folder = Folder::new("live-bucket");
    let agent = Agent::start(&folder);
    let mut client = agent.client();
    let config = router().queue(&["192.168.88.0/24"], LIMIT, 0).config;
    let row = config.simple_queues[0].row;
    // What the bucket holds at most, bits.
    let depth = i64::from(config.simple_queues[0].upload.bucket_ms) * (LIMIT as i64) / 1000;
    client.activate(config);
    client.wait_until("a worker gives packets of the queue to the other", |client| {
        client.stats().workers.iter().map(|worker| worker.handover_packets).sum::<u64>() > 20
    });

    let (mut after, mut milliseconds, mut passed, mut reported, mut rates) =
        (0, Vec::new(), 0_u64, 0, Vec::new());
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(4) {
        let ReplyBody::TokenBucket { records, .. } = client.ask(RequestBody::TokenBucket { row, after })
        else {
            panic!("no answer about the queue");
        };
        for record in records.chunks_exact(TOKEN_BUCKET_RECORD) {
            let u32_at = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
            let u64_at = |at: usize| u64::from_le_bytes(record[at..at + 8].try_into().unwrap());
            after = after.max(u64_at(0));
            let (tokens, rate) = (u64_at(20) as i64, u64::from(u32_at(32)) * 1000);
            passed += u64::from(u32_at(8));
            assert!(rate == LIMIT || rate == 0 && u32_at(8) == 0, "a bucket of {rate} bits/s");
            assert!(tokens <= depth, "{tokens} bits in a bucket of {depth}");
            reported += u32::from(rate == LIMIT);
            milliseconds.push(u64_at(0));
        }
        rates.push(rate_of(&mut client, row));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(reported > 20, "{reported} milliseconds of {}", milliseconds.len());
    let seconds = (milliseconds.iter().max().unwrap() - milliseconds.iter().min().unwrap()) as f64 / 1000.0;
    let most = seconds * LIMIT as f64 + depth as f64 + 12_000.0;
    assert!((passed * 8) as f64 <= most, "{} bits passed in {seconds} s, {most} may", passed * 8);
    // The traffic is more than the limit, and is held to it once.
    let most = rates.iter().max().unwrap();
    assert!(*most > LIMIT / 2 && *most <= LIMIT * 12 / 10 + depth as u64, "{rates:?}");
}

/// Rate of the upload of a queue, over all workers, bits/s.
fn rate_of(client: &mut Client, row: u32) -> u64 {
    let ReplyBody::Queues { records, .. } = client.ask(RequestBody::Queues) else {
        panic!("no answer about the queues");
    };
    let number = |record: &[u8], at: usize| u64::from_le_bytes(record[at..at + 8].try_into().unwrap());
    let is_upload = |record: &&[u8]| record[..4] == row.to_le_bytes() && record[6] == 0;
    let records = records.chunks_exact(tollway_config::protocol::QUEUE_RECORD).filter(is_upload);
    records.map(|record| number(record, 32)).sum()
}

/// The file of the active configuration is damaged in every way: the agent forwards by the one before, before any API
/// has spoken to it, and says so.
#[test]
fn a_damaged_configuration_gives_way_to_the_one_before() {
    let folder = Folder::new("live-damaged");
    let active = folder.join("agent").join("active.tollway");
    {
        let agent = Agent::start(&folder);
        let mut client = agent.client();
        client.activate(router().config);
    }
    for (number, damage) in ["truncated", "flipped", "empty", "missing"].into_iter().enumerate() {
        {
            // The newest one does not forward: nobody takes it for the one before.
            let agent = Agent::start(&folder);
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
        let agent = Agent::start(&folder);
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

/// Rules of a time of day hold from the first packet on: none opens a connection which an agent that is started again
/// takes for another day.
#[test]
fn an_agent_that_is_started_again_knows_what_time_it_is() {
    let folder = Folder::new("live-time");
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    // An hour before and after now, where it is noon now, on the day that it is there.
    let offset = 12 * 3_600 - at.rem_euclid(86_400);
    // The first day of 1970 was a Thursday.
    let weekday = ((at + offset) / 86_400 + 4).rem_euclid(7);
    let hour = 3_600_000;
    let now = Matcher::Time {
        from_ms: 11 * hour,
        to_ms: 13 * hour,
        days: 1 << weekday,
        utc_offset_s: offset as i32,
        negate: false,
    };
    {
        let agent = Agent::start(&folder);
        agent.client().activate(router().filter("forward", rule().matcher(now).drop()).config);
    }
    let agent = Agent::start(&folder);
    let mut client = agent.client();
    client.wait_until("packets are dropped by the rule", |client| {
        let drops = client.stats().drops;
        drops.iter().any(|drop| drop.reason == "filter-drop" && drop.packets > 100)
    });
    assert_eq!(client.stats().tracking.ip4_entries, 0);
}
