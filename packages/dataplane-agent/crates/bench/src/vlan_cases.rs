//! VLANs against ports.

use crate::measure::{CaseResult, compare};
use crate::scenario::Scenario;
use crate::timed_engine::Setup;
use crate::traffic::Traffic;

/// 65,536 established flows in random order, tracked, masqueraded and filtered, from one VLAN of a port to another one of
/// it, and from port to port, in turns. Timed is also taking the packets out of the batch, when they get their tags.
pub fn vlan_64k(windows: usize) -> Result<CaseResult, String> {
    let setup = |vlans| {
        let setup = Setup::of(Scenario::MASQUERADE_25, Traffic::new(65_536, false));
        Setup { departure: true, ..if vlans { setup.over_vlans() } else { setup } }
    };
    compare(windows, ("between VLANs of one port", setup(true)), ("between ports", setup(false)))
}
