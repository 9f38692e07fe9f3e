import type { DataplaneConfig } from '@tollway/dataplane-agent';
import type { ConfigSnapshot } from '../snapshot/snapshot.js';
import { AddressLists } from './address-lists.js';
import { compileAddresses } from './addresses.js';
import { CompileContext } from './context.js';
import { compileFirewall } from './firewall.js';
import { compileInterfaces } from './interfaces.js';
import { compileNeighbors } from './neighbors.js';
import { compileQueues } from './queues.js';
import { compileRoutes } from './routes.js';
import { compileSettings, compileTracking } from './settings.js';

/** Version of the compiled format written here, `FORMAT` of the agent. */
const FORMAT = 4;

export interface Compiled {
  readonly config: DataplaneConfig;
  /** Rows that are stored but cannot work, with the reason for people. They are not in `config`. */
  readonly invalid: ReadonlyMap<number, string>;
  /** Offset of the clock that `config` depends on, seconds; undefined when no rule asks for the time. */
  readonly utcOffsetS: number | undefined;
}

/**
 * Translates the stored configuration into what the data plane reads: names become row ids, texts become
 * integers, lists are expanded, disabled rows and rows that cannot work are left out. Pure and total: a
 * row that cannot be translated is reported in `invalid`, never thrown.
 * @param utcOffsetS offset of the router's clock from UTC, for conditions on the time of day, seconds.
 */
export function compile(snapshot: ConfigSnapshot, utcOffsetS = 0): Compiled {
  const context = new CompileContext(snapshot, utcOffsetS);
  const interfaces = compileInterfaces(context);
  const addresses = compileAddresses(context);
  const routes = compileRoutes(context, addresses);
  const neighbors = compileNeighbors(context);
  const lists = new AddressLists(context);
  const filter = compileFirewall(context, lists, 'filter');
  const nat = compileFirewall(context, lists, 'nat');
  const mangle = compileFirewall(context, lists, 'mangle');
  const queues = compileQueues(context);
  const config: DataplaneConfig = {
    format: FORMAT,
    settings: compileSettings(context),
    tracking: compileTracking(context),
    interfaces,
    addresses,
    routes,
    neighbors,
    'address-lists': lists.compiled(),
    filter,
    nat,
    mangle,
    'mark-names': context.marks.compiled(),
    'queue-types': queues.types,
    'simple-queues': queues.simple,
    'tree-queues': queues.tree,
    'interface-queues': queues.interfaces,
  };
  return { config, invalid: context.invalid, utcOffsetS: context.asksTime ? utcOffsetS : undefined };
}
