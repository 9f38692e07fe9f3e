//! Routes of other programs, of both families, taken over into the forwarding tables.

use std::sync::Arc;

use tollway_engine::ip::fib::{Address, FibFull};
use tollway_engine::packet::tuple::Zone;
use tollway_engine::snapshot::{ChangedRoutes, Rebuilt, Snapshot};
use tollway_io::routes::RouteAddress;

use super::{Agent, FULL};
use crate::learned_routes::{Learned, LearnedRoutes};
use crate::learned_tables::Learning;
use crate::workers::WorkerLost;

/// A family of addresses whose routes of other programs the agent follows.
pub(super) trait LearnedFamily: Address + RouteAddress {
    /// Those among the routes of a namespace.
    fn among(learning: &mut Learning) -> &mut LearnedRoutes<Self>;
    /// Changes the table of a zone. Returns the number of destinations whose route has changed.
    fn change(agent: &Agent, zone: Zone, learned: &Learned<Self>) -> Result<usize, FibFull>;
}

impl LearnedFamily for u32 {
    fn among(learning: &mut Learning) -> &mut LearnedRoutes<Self> {
        &mut learning.v4
    }

    fn change(agent: &Agent, zone: Zone, learned: &Learned<Self>) -> Result<usize, FibFull> {
        match learned {
            Learned::Changes(changes) => agent.shared.change_routes(&agent.snapshot, zone, changes),
            Learned::All(routes) => agent.shared.replace_dynamic_routes(&agent.snapshot, zone, routes),
        }
    }
}

impl LearnedFamily for u128 {
    fn among(learning: &mut Learning) -> &mut LearnedRoutes<Self> {
        &mut learning.v6
    }

    fn change(agent: &Agent, zone: Zone, learned: &Learned<Self>) -> Result<usize, FibFull> {
        match learned {
            Learned::Changes(changes) => agent.shared.change_ipv6_routes(&agent.snapshot, zone, changes),
            // Advertisements are taken by interfaces in no VRF alone.
            Learned::All(routes) if zone == 0 => {
                let routes = [routes.as_slice(), &agent.autoconfiguration.routes()].concat();
                agent.shared.replace_dynamic_ipv6_routes(&agent.snapshot, zone, &routes)
            }
            Learned::All(routes) => agent.shared.replace_dynamic_ipv6_routes(&agent.snapshot, zone, routes),
        }
    }
}

impl Agent {
    /// Takes over every route of other programs, from the namespaces that there are now.
    pub(super) fn learn_all_routes(&mut self) -> Result<(), WorkerLost> {
        let Some(router) = &self.router else { return Ok(()) };
        for problem in self.learned.follow(router) {
            self.log("route,error", problem);
        }
        for zone in self.learned.zones() {
            self.learn_routes(zone, LearnedRoutes::<u32>::all_there_are)?;
            self.learn_routes(zone, LearnedRoutes::<u128>::all_there_are)?;
        }
        Ok(())
    }

    /// Takes over the routes of other programs in the namespace of a zone; without one there are none, beside those of
    /// router advertisements.
    pub(super) fn learn_routes<A: LearnedFamily>(
        &mut self,
        zone: Zone,
        what: impl FnOnce(&mut LearnedRoutes<A>) -> std::io::Result<Learned<A>>,
    ) -> Result<(), WorkerLost> {
        let known = self.learned.of(zone).map(A::among);
        let learned = match known.map_or_else(|| Ok(Learned::All(Vec::new())), what) {
            Ok(learned) => learned,
            Err(error) => {
                self.log("route,error", format!("the routes of other programs cannot be read: {error}"));
                return Ok(());
            }
        };
        if A::change(self, zone, &learned).is_ok() {
            return Ok(());
        }
        // A table without free numbers still holds numbers of removed next hops: a new table does not.
        let config = Arc::clone(&self.active.config);
        self.generation += 1;
        let (before, effective) = (&self.snapshot, self.effective(&config));
        let Ok(snapshot) = Snapshot::build_after(before, &effective, &self.ports.facts(), self.generation)
        else {
            return Ok(());
        };
        self.facts_version += 1;
        self.swap_tables(&config, Rebuilt { snapshot, routes: ChangedRoutes::default() })?;
        if let Err(FibFull) = A::change(self, zone, &learned) {
            self.log("route,error", FULL.to_owned());
        }
        Ok(())
    }
}
