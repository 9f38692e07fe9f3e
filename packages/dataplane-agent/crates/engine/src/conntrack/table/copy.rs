//! Copying single connections from one table to another, for the dry run of a packet.

use super::Table;
use crate::conntrack::bound::Bound;
use crate::conntrack::connection::{Connection, Direction, NIL};
use crate::conntrack::entry::CachedAction;
use crate::tuple::Tuple;
use tollway_wire::ipv4;

/// A connection as it was.
#[derive(Debug, Clone)]
pub struct Copied {
    connection: Connection,
    actions: [CachedAction; 2],
    bounds: [Option<Bound>; 2],
}

impl Copied {
    /// Direction of the packets with a tuple.
    pub(crate) fn direction_of(&self, tuple: &Tuple) -> Direction {
        if self.connection.original == *tuple { Direction::Original } else { Direction::Reply }
    }

    /// Sequence number and acknowledgement of the segment with which the sender of a tuple would go on;
    /// `None` when it is not TCP.
    pub(crate) fn expected(&self, tuple: &Tuple) -> Option<(u32, u32)> {
        (tuple.protocol == ipv4::TCP).then(|| self.connection.tcp.expected(self.direction_of(tuple)))
    }

    /// Whether rules are asked for each packet of a direction although it is cached.
    pub(crate) fn resumes(&self, direction: Direction) -> bool {
        self.actions.get(direction.index()).is_some_and(|action| action.resume != 0)
    }
}

impl Table {
    /// The connection that packets with this tuple belong to, as it is.
    pub fn copy_of(&self, tuple: &Tuple) -> Option<Copied> {
        let (reference, _) = self.find(tuple)?;
        let connection = self.get(reference)?.clone();
        let entries = [Direction::Original, Direction::Reply].map(|way| Self::index(reference.slot, way));
        let actions = entries.map(|entry| self.installed(entry).copied().unwrap_or_default());
        Some(Copied { connection, actions, bounds: entries.map(|entry| self.bound(entry)) })
    }

    /// Puts a connection of another table here, with what is cached of it if `cached`: the decision, but
    /// neither its queue nor its rules, whose numbers hold for one worker only. `false` without room.
    pub(crate) fn paste(&mut self, copied: &Copied, cached: bool) -> bool {
        let from = &copied.connection;
        let Some(slot) = self.create(from.original, from.tcp, from.expires) else { return false };
        let [_, reply] = from.indexed;
        if reply {
            self.enter(slot, Direction::Reply, &from.reply);
        }
        let Some(conn) = self.connections.get_mut(slot as usize) else { return false };
        let (armed, indexed, serial) = (conn.armed, conn.indexed, conn.id);
        *conn = from.clone();
        (conn.armed, conn.indexed, conn.id) = (armed, indexed, serial);
        (conn.older, conn.newer, conn.slow_batch) = (NIL, NIL, 0);
        let status = conn.status;
        self.counters.fasttracked += u64::from(status.fasttrack());
        if status.confirmed() && !status.assured() {
            self.link(slot);
        }
        let directions = [Direction::Original, Direction::Reply].into_iter().filter(|_| cached);
        for (direction, (action, bound)) in directions.zip(copied.actions.into_iter().zip(copied.bounds)) {
            let index = Self::index(slot, direction);
            if let Some(entry) = self.entries.get_mut(index as usize) {
                entry.action = CachedAction { path: 0, resume: 0, lane: Default::default(), ..action };
            }
            if let Some(bound) = bound {
                self.bounds.set(index, bound);
            }
        }
        true
    }

    /// Whether a new connection would find no room.
    pub fn is_full(&self) -> bool {
        self.live >= self.max_entries && self.oldest == NIL
    }

    /// Lets no new connection find room.
    pub(crate) fn close(&mut self) {
        self.max_entries = self.live;
        (self.oldest, self.newest) = (NIL, NIL);
    }
}
