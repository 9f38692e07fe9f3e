//! The control thread's part of flow offload: the table, and the ports to which it is attached.

use std::collections::BTreeMap;
use std::sync::Arc;

use tollway_io::flowtable::{Flowtable, Link, disconnect};

use super::PortState;
use crate::commands::Command;
use crate::offloaded_flows::OffloadResources;
use crate::workers::{WorkerLost, Workers};

/// The table while there is one, and the ports whose packets it forwards.
#[derive(Debug, Default)]
pub(crate) struct FlowOffload {
    table: Option<Arc<Flowtable>>,
    links: BTreeMap<usize, (u32, Link)>,
    /// The kernel has refused flow offload, and this has been reported.
    refused: bool,
}

impl FlowOffload {
    /// Reconciles the table and its ports with the settings and the sockets that are open. Returns messages for the
    /// log.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn follow(
        &mut self,
        wanted: bool,
        ports: &[PortState],
        workers: &mut Workers,
    ) -> Result<Vec<String>, WorkerLost> {
        let mut messages = Vec::new();
        if !wanted {
            self.refused = false;
            if self.table.is_some() {
                workers.ask(|_| Command::Offload(None))?;
                self.disconnect_all(ports);
                self.table = None;
                messages.push("the kernel forwards no flows any more".to_owned());
            }
            return Ok(messages);
        }
        if self.table.is_none() && !self.refused {
            match Flowtable::new() {
                Ok(table) => {
                    self.table = Some(Arc::new(table));
                    messages
                        .push("the kernel forwards known flows between ports by packet socket".to_owned());
                }
                Err(error) => {
                    self.refused = true;
                    messages.push(format!(
                        "the kernel cannot forward flows, so packets go on as before: {error}"
                    ));
                }
            }
        }
        let Some(table) = self.table.clone() else { return Ok(messages) };
        let mut changed = false;
        for (index, port) in ports.iter().enumerate() {
            let Some(ifindex) = port.link.as_ref().map(|link| link.index) else { continue };
            if port.sockets.is_empty() || self.links.contains_key(&index) {
                continue;
            }
            match connect(&table, ifindex, port) {
                Ok(link) => {
                    self.links.insert(index, (ifindex, link));
                    changed = true;
                }
                Err(error) => {
                    messages.push(format!("{}: the kernel does not forward its flows: {error}", port.name))
                }
            }
        }
        if changed {
            self.update(workers)?;
        }
        Ok(messages)
    }

    /// Ends the offload of a port whose sockets are about to be closed.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn forget(
        &mut self,
        index: usize,
        port: &mut PortState,
        workers: &mut Workers,
    ) -> Result<(), WorkerLost> {
        if let Some(link) = self.links.remove(&index) {
            self.update(workers)?;
            port.sockets.iter().for_each(|socket| drop(disconnect(socket)));
            drop(link);
        }
        port.sockets.clear();
        Ok(())
    }

    fn update(&self, workers: &mut Workers) -> Result<(), WorkerLost> {
        let Some(table) = &self.table else { return Ok(()) };
        let ifindexes: BTreeMap<_, _> =
            self.links.iter().map(|(index, (ifindex, _))| (*index as u16, *ifindex)).collect();
        let ports = Arc::new(ifindexes);
        let count = workers.len() as u32;
        workers.ask(|worker| {
            let (table, ports) = (Arc::clone(table), Arc::clone(&ports));
            Command::Offload(Some(OffloadResources { table, ports, worker: worker as u32, workers: count }))
        })?;
        Ok(())
    }

    fn disconnect_all(&mut self, ports: &[PortState]) {
        for (index, link) in std::mem::take(&mut self.links) {
            if let Some(port) = ports.get(index) {
                port.sockets.iter().for_each(|socket| drop(disconnect(socket)));
            }
            drop(link);
        }
    }
}

/// The forwarding program is attached first: it must forward the packets that the sockets no longer get.
fn connect(table: &Flowtable, ifindex: u32, port: &PortState) -> std::io::Result<Link> {
    let link = table.attach(ifindex)?;
    for socket in &port.sockets {
        if let Err(error) = table.connect(socket) {
            port.sockets.iter().for_each(|socket| drop(disconnect(socket)));
            return Err(error);
        }
    }
    Ok(link)
}
