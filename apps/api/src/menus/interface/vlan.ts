import type { Interface } from '@tollway/dataplane-agent';
import { MAX_VLAN_TAGS } from '@tollway/dataplane-agent/records';
import { type CompileContext, effective, requiredValue } from '../../compiler/context.js';
import { compileInterface } from '../../compiler/interface.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { counterCommands } from '../../rest/commands/counters.js';
import { interfaceName, typedInterfaces } from '../../snapshot/interfaces.js';
import { type Row, rowsOf } from '../../snapshot/snapshot.js';
import { interfacesView } from '../../view/interfaces.js';
import type { MenuModule } from '../module.js';

const MENU = '/interface/vlan';

function compileVlans(context: CompileContext): Interface[] {
  return rowsOf(context.snapshot, MENU).flatMap((row) => context.orInvalid(row, () => [one(context, row)]) ?? []);
}

function one(context: CompileContext, row: Row): Interface {
  return compileInterface(context, MENU, row, {
    type: 'vlan',
    parent: context.interfaces.row('interface', requiredValue(MENU, row, 'interface')),
    'vlan-id': Number(requiredValue(MENU, row, 'vlan-id')),
    'service-tag': effective(MENU, row, 'use-service-tag') === 'true',
  });
}

/** What tells the VLANs of an interface apart: kind and number of the tag. */
const tagOf = (values: Row['values']) =>
  `${values['use-service-tag'] === 'true' ? 'service' : 'customer'} ${values['vlan-id']}`;

function checkVlan(proposed: ProposedRow): FieldError | undefined {
  return checkFrames(proposed) ?? checkPlace(proposed) ?? checkTag(proposed) ?? checkMtu(proposed);
}

/** A loopback interface has no frames that could carry a tag. */
function checkFrames({ values, snapshot }: ProposedRow): FieldError | undefined {
  const isLoopback = rowsOf(snapshot, '/interface/loopback').some((row) => interfaceName(row) === values.interface);
  return isLoopback
    ? fieldError('interface', `value of interface: ${values.interface} is a loopback interface; give a port or a VLAN`)
    : undefined;
}

function checkTag({ values, others }: ProposedRow): FieldError | undefined {
  const below = values.interface ?? '';
  const same = others.all().find((other) => other.values.interface === below && tagOf(other.values) === tagOf(values));
  return same === undefined
    ? undefined
    : fieldError(
        'vlan-id',
        `failure: ${interfaceName(same)} has vlan-id ${values['vlan-id']} on ${below} already (value of vlan-id must be unique)`,
      );
}

/** A VLAN must not be on itself, and neither it nor what is on it may have too many tags. */
function checkPlace({ values, before, others }: ProposedRow): FieldError | undefined {
  const vlans = new Map(others.all().map((row) => [interfaceName(row), row.values.interface ?? '']));
  // References to a row that is renamed still have its former name.
  const own = new Set([values.name, before?.name]);
  const layersBelow = (from: string): number | undefined => {
    let layers = 0;
    for (let name = from; ; layers += 1) {
      if (own.has(name)) return undefined;
      const next = vlans.get(name);
      if (next === undefined || layers > vlans.size) return layers;
      name = next;
    }
  };
  const below = layersBelow(values.interface ?? '');
  if (below === undefined) {
    return fieldError(
      'interface',
      `value of interface: ${values.interface} is this VLAN or on it; give an interface below it`,
    );
  }
  const above = Math.max(0, ...[...vlans.keys()].map((name) => layersTo(name, own, vlans)));
  return below + 1 + above > MAX_VLAN_TAGS
    ? fieldError(
        'interface',
        `value of interface: on ${values.interface} there would be more than ${MAX_VLAN_TAGS} VLANs one on the other`,
      )
    : undefined;
}

/** Number of VLANs from one down to, and without, one with a name in `own`; 0 if it is not on that. */
function layersTo(from: string, own: ReadonlySet<string | undefined>, vlans: ReadonlyMap<string, string>): number {
  let layers = 0;
  for (let name: string | undefined = from; name !== undefined && layers <= vlans.size; layers += 1) {
    if (own.has(name)) return layers;
    name = vlans.get(name);
  }
  return 0;
}

/**
 * The MTU is at most that of the interface below. Where that has been lowered since, or is lowered later, the VLAN is as large as
 * there is room for, and its other properties can be changed.
 */
function checkMtu({ values, before, snapshot }: ProposedRow): FieldError | undefined {
  if (before !== undefined && before.mtu === values.mtu && before.interface === values.interface) return undefined;
  const below = typedInterfaces(snapshot).find(({ row }) => interfaceName(row) === values.interface);
  const most = below && Number(below.row.values.mtu ?? '1500');
  const mtu = Number(values.mtu ?? '1500');
  return most !== undefined && mtu > most
    ? fieldError('mtu', `value of mtu: ${mtu} is more than the ${most} of ${values.interface}; give at most ${most}`)
    : undefined;
}

export const vlan: MenuModule = {
  path: MENU,
  compile: (context) => ({ interfaces: compileVlans(context) }),
  check: checkVlan,
  view: (menu, { store, live }) => interfacesView(menu, store, live),
  commands: { ...counterCommands('reset-interface-counters') },
};
