//! Routes of other programs, of both families, taken over into the forwarding tables.

use std::sync::Arc;

use tollway_engine::ip::fib::{Address, FibFull};
use tollway_engine::snapshot::{ChangedRoutes, Rebuilt, Snapshot};
use tollway_io::routes::RouteAddress;

use super::{Agent, FULL};
use crate::learned_routes::{Learned, LearnedRoutes};
use crate::workers::WorkerLost;

/// A family of addresses whose routes of other programs the agent follows.
pub(super) trait LearnedFamily: Address + RouteAddress {
    /// The routes of the router's namespace, if there is one.
    fn learned(agent: &mut Agent) -> Option<&mut LearnedRoutes<Self>>;
    /// Changes the forwarding table. Returns the number of destinations whose route has changed.
    fn change(agent: &Agent, learned: &Learned<Self>) -> Result<usize, FibFull>;
}

impl LearnedFamily for u32 {
    fn learned(agent: &mut Agent) -> Option<&mut LearnedRoutes<Self>> {
        agent.learned.as_mut()
    }

    fn change(agent: &Agent, learned: &Learned<Self>) -> Result<usize, FibFull> {
        match learned {
            Learned::Changes(changes) => agent.shared.change_routes(&agent.snapshot, changes),
            Learned::All(routes) => agent.shared.replace_dynamic_routes(&agent.snapshot, routes),
        }
    }
}

impl LearnedFamily for u128 {
    fn learned(agent: &mut Agent) -> Option<&mut LearnedRoutes<Self>> {
        agent.learned6.as_mut()
    }

    fn change(agent: &Agent, learned: &Learned<Self>) -> Result<usize, FibFull> {
        match learned {
            Learned::Changes(changes) => agent.shared.change_ipv6_routes(&agent.snapshot, changes),
            Learned::All(routes) => agent.shared.replace_dynamic_ipv6_routes(&agent.snapshot, routes),
        }
    }
}

impl Agent {
    /// Takes over the routes of other programs.
    pub(super) fn learn_routes<A: LearnedFamily>(
        &mut self,
        what: impl FnOnce(&mut LearnedRoutes<A>) -> std::io::Result<Learned<A>>,
    ) -> Result<(), WorkerLost> {
        let Some(learned) = A::learned(self).map(what) else { return Ok(()) };
        let learned = match learned {
            Ok(learned) => learned,
            Err(error) => {
                self.log("route,error", format!("the routes of other programs cannot be read: {error}"));
                return Ok(());
            }
        };
        if A::change(self, &learned).is_ok() {
            return Ok(());
        }
        // A table without free numbers still holds numbers of removed next hops: a new table does not.
        let config = Arc::clone(&self.active.config);
        self.generation += 1;
        let before = &self.snapshot;
        let Ok(snapshot) = Snapshot::build_after(before, &config, &self.ports.facts(), self.generation)
        else {
            return Ok(());
        };
        self.facts_version += 1;
        self.swap_tables(&config, Rebuilt { snapshot, routes: ChangedRoutes::default() })?;
        if let Err(FibFull) = A::change(self, &learned) {
            self.log("route,error", FULL.to_owned());
        }
        Ok(())
    }
}
