import type { Interface } from '@tollway/dataplane-agent';
import type { CompileContext } from '../../compiler/context.js';
import { zoneOf } from '../../compiler/vrfs.js';
import { interfaceName } from '../../snapshot/interfaces.js';
import { rowsOf } from '../../snapshot/snapshot.js';
import { interfacesView } from '../../view/interfaces.js';
import type { MenuModule } from '../module.js';

const MENU = '/interface/loopback';

/** MTU of the device by which services see the addresses; no packet is sent by it. */
const MTU = 1_500;

const compileLoopbacks = (context: CompileContext): Interface[] =>
  rowsOf(context.snapshot, MENU).map((row) => {
    const zone = zoneOf(context, row);
    return {
      row: row.id,
      name: interfaceName(row),
      kind: { type: 'loopback' },
      disabled: row.disabled,
      mtu: MTU,
      'mac-address': null,
      arp: 'disabled',
      'arp-timeout-ms': null,
      // The data plane leaves the default out, too.
      ...(zone !== 0 && { zone }),
    };
  });

export const loopback: MenuModule = {
  path: MENU,
  compile: (context) => ({ interfaces: compileLoopbacks(context) }),
  view: (menu, { store, live }) => interfacesView(menu, store, live),
};
