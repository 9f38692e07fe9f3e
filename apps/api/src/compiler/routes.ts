import type { Route, RouteTarget } from '@tollway/dataplane-agent';
import { ipv4Prefix, ipv4Text, parseNexthop } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import { compileAddresses } from './addresses.js';
import { CannotWork } from './cannot-work.js';
import { type CompileContext, effective, needed } from './context.js';

const MENU = '/ip/route';

/** Static routes. Whether a gateway can be reached is for the data plane to see: it changes with the links. */
export function compileRoutes(context: CompileContext): Route[] {
  const own = new Set(context.once(compileAddresses).map(({ address }) => address));
  return context.translate(MENU, (row) => {
    const text = needed(MENU, row, 'dst-address');
    const prefix = ipv4Prefix(text);
    if (!prefix) throw new CannotWork(`dst-address: ${text} is no prefix`);
    const prefSrc = effective(MENU, row, 'pref-src');
    if (prefSrc !== undefined && !own.has(prefSrc)) {
      throw new CannotWork(`pref-src: ${prefSrc} is no enabled address of this router; give one of those, or unset it`);
    }
    return {
      row: row.id,
      destination: ipv4Text(prefix.address),
      'prefix-len': prefix.length,
      distance: Number(needed(MENU, row, 'distance')),
      target: target(context, row, own),
      'pref-src': prefSrc ?? null,
    };
  });
}

function target(context: CompileContext, row: Row, own: ReadonlySet<string>): RouteTarget {
  if (effective(MENU, row, 'blackhole') === 'true') return { kind: 'blackhole' };
  const gateway = needed(MENU, row, 'gateway');
  const hop = parseNexthop(gateway);
  if (!hop) throw new CannotWork(`gateway: ${gateway} is no next hop`);
  const through = hop.interface === undefined ? undefined : context.interfaces.byName.get(hop.interface);
  if (hop.interface !== undefined && through === undefined) {
    throw new CannotWork(`gateway: there is no interface ${hop.interface}`);
  }
  if (hop.address !== undefined) {
    const address = ipv4Text(hop.address);
    if (own.has(address)) throw new CannotWork(`gateway: ${address} is an address of this router itself`);
    return { kind: 'gateway', address, interface: through ?? null };
  }
  // parseNexthop gives an address, an interface or both.
  if (through === undefined) throw new CannotWork(`gateway: ${gateway} is no next hop`);
  return { kind: 'interface', interface: through };
}
