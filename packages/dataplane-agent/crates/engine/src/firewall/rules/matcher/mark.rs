//! `packet-mark`, `connection-mark` and `routing-mark`.

use tollway_config::dataplane::{self as config, Matcher as M};

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition, MarkRead};
use crate::error::BuildError;

/// The object that has the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marked {
    /// The packet.
    Packet,
    /// The packet's connection.
    Connection,
    /// The packet, for its route.
    Routing,
}

/// Matches a mark of the packet or its connection. Routing marks are those that rules of mangle have set before. 0 is no mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    of: Marked,
    mark: config::Mark,
    negate: bool,
}

impl Condition for Mark {
    /// Rules set packet marks, and they match all packets of a flow alike; a change of the connection mark changes the
    /// version of the connection.
    const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        match *matcher {
            M::PacketMark { mark, negate } => Ok(Self { of: Marked::Packet, mark, negate }),
            M::ConnectionMark { mark, negate } => Ok(Self { of: Marked::Connection, mark, negate }),
            M::RoutingMark { mark, negate } => Ok(Self { of: Marked::Routing, mark, negate }),
            _ => Err(scope.wrong_row()),
        }
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let mark = match self.of {
            Marked::Packet => view.mark,
            Marked::Connection => view.connection_mark,
            Marked::Routing => view.routing_mark,
        };
        (mark == self.mark) != self.negate
    }

    fn mark_read(&self) -> MarkRead {
        match self.of {
            Marked::Packet | Marked::Routing => MarkRead::Packet,
            Marked::Connection => MarkRead::ConnectionMark,
        }
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        match matcher {
            M::PacketMark { mark, negate } => (asked.view.mark == *mark) != *negate,
            M::ConnectionMark { mark, negate } => (asked.view.connection_mark == *mark) != *negate,
            M::RoutingMark { mark, negate } => (asked.view.routing_mark == *mark) != *negate,
            _ => false,
        }
    }
}
