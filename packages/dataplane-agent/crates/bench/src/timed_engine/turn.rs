//! A worker among several.

use tollway_engine::observe::profiler::CycleClock;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::pipeline::batch::{BATCH, Outcome};
use tollway_engine::pipeline::handover::{Handover, HandoverContents};
use tollway_io::pool::PoolFrame;
use tollway_worker::handover_ring::{HandoverReceiver, HandoverSender};

use super::{LAN_PORT, TimedEngine, WAN_PORT};
use crate::alloc;

/// A worker's ends of the rings between two workers.
pub struct Links {
    /// To the other one.
    pub out: HandoverSender<PoolFrame>,
    /// From the other one.
    pub inbound: HandoverReceiver<PoolFrame>,
}

/// The result of a [`TimedEngine::turn`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Turn {
    /// Time it took.
    pub ticks: u64,
    /// Packets that left the router.
    pub finished: u64,
    /// Packets given to the other worker.
    pub handed_over: u64,
}

impl TimedEngine {
    /// A turn of a worker among several, as the agent's take theirs: what was handed to it, then, if asked for, a
    /// batch of its own traffic (none while the other worker cannot take it). Timed is all but making the frames.
    pub fn turn(&mut self, links: &mut Links, traffic: bool) -> Result<Turn, String> {
        if traffic && links.out.room() >= BATCH {
            self.fill(BATCH);
        }
        if self.real_time {
            self.now = self.time();
        }
        let allocations = alloc::count();
        let from = self.tsc.cycles();
        let mut turn = Turn::default();
        let batch = &mut self.batch;
        if links.inbound.receive(BATCH, |packet| batch.push_handover(packet)) > 0 {
            self.pass_on(links, &mut turn)?;
        }
        let steering = self.engine.steering();
        for frame in self.ring.drain(..) {
            if let Some((_, packet)) = steering.steer(&mut self.batch, frame, LAN_PORT, VnetState::default())
            {
                turn.handed_over += 1;
                links.out.gather(packet);
            }
        }
        if !self.batch.is_empty() {
            self.pass_on(links, &mut turn)?;
        }
        let mut refused = 0;
        links.out.send(|_| refused += 1);
        if refused > 0 {
            return Err(format!("{refused} packets found no room although there was"));
        }
        if self.real_time && self.engine.next_deadline().is_some_and(|deadline| deadline <= self.now) {
            self.engine.tick(&mut self.batch, &mut self.pool, &self.clock, self.now);
            self.dispatch(links, &mut turn)?;
        }
        if turn.finished + turn.handed_over == 0 {
            return Ok(turn);
        }
        self.pool.flush_returns();
        turn.ticks = self.tsc.cycles().wrapping_sub(from);
        self.allocations += alloc::count() - allocations;
        if !self.real_time {
            self.pass_time();
        }
        Ok(turn)
    }

    /// Decides about what the batch holds, and gives it to where it goes.
    fn pass_on(&mut self, links: &mut Links, turn: &mut Turn) -> Result<(), String> {
        let received = self.batch.len() as u64;
        self.engine.process(&mut self.batch, &mut self.pool, &self.clock, self.now);
        let before = self.waiting.0;
        self.waiting.0 += received;
        self.dispatch(links, turn)?;
        self.waiting.1 += self.waiting.0.saturating_sub(before);
        match self.waiting.0 == 0 || self.engine.stats().queues.queued_packets == self.waiting.0 {
            true => Ok(()),
            false => Err(format!("not all of {received} packets were forwarded: {}", self.drops())),
        }
    }

    /// Gives what left the engine to where it goes.
    fn dispatch(&mut self, links: &mut Links, turn: &mut Turn) -> Result<(), String> {
        for done in self.batch.drain() {
            self.waiting.0 = self.waiting.0.wrapping_sub(1);
            match done.outcome {
                Outcome::Tx { port: WAN_PORT, .. } => {
                    turn.finished += 1;
                    self.pool.recycle(done.frame);
                }
                Outcome::Handover { packet, .. } => {
                    turn.handed_over += 1;
                    let contents = HandoverContents::Parsed(packet);
                    links.out.gather(Handover { frame: done.frame, vnet: done.vnet, contents });
                }
                other => return Err(format!("a packet left by another way: {other:?}")),
            }
        }
        Ok(())
    }
}
