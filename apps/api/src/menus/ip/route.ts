import type { Route, RouteTarget } from '@tollway/dataplane-agent';
import { ipv4Prefix, ipv4Text, parseNexthop } from '@tollway/schema';
import { compileAddresses } from '../../compiler/addresses.js';
import { type CompileContext, effective, requiredValue } from '../../compiler/context.js';
import { InvalidRow } from '../../compiler/invalid-row.js';
import { noHost } from '../../config/checks/addresses.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import type { Row } from '../../snapshot/snapshot.js';
import { routesView } from '../../view/routes.js';
import type { MenuModule } from '../module.js';

/** `/ip/route` */
function checkRoute({ values, menu }: ProposedRow): FieldError | undefined {
  const { gateway, blackhole } = values;
  const accepts = menu.props.gateway?.kind.accepts;
  if (gateway === undefined && blackhole !== 'true') {
    return fieldError('gateway', `gateway is required: ${accepts}; or set blackhole`);
  }
  if (gateway !== undefined && blackhole === 'true') {
    return fieldError('blackhole', 'value of blackhole: a route has either a gateway or blackhole; unset one of them');
  }
  const address = gateway === undefined ? undefined : parseNexthop(gateway)?.address;
  const reason = address === undefined ? undefined : noHost(address);
  if (address !== undefined && reason) {
    return fieldError('gateway', `value of gateway: ${ipv4Text(address)} is ${reason}; give ${accepts}`);
  }
  return undefined;
}

const MENU = '/ip/route';

/** Static routes. Whether a gateway can be reached is for the data plane to see: it changes with the links. */
function compileRoutes(context: CompileContext): Route[] {
  const own = new Set(context.once(compileAddresses).map(({ address }) => address));
  return context.translate(MENU, (row) => {
    const text = requiredValue(MENU, row, 'dst-address');
    const prefix = ipv4Prefix(text);
    if (!prefix) throw new InvalidRow(`dst-address: ${text} is no prefix`);
    const prefSrc = effective(MENU, row, 'pref-src');
    if (prefSrc !== undefined && !own.has(prefSrc)) {
      throw new InvalidRow(`pref-src: ${prefSrc} is no enabled address of this router; give one of those, or unset it`);
    }
    return {
      row: row.id,
      destination: ipv4Text(prefix.address),
      'prefix-len': prefix.length,
      distance: Number(requiredValue(MENU, row, 'distance')),
      target: target(context, row, own),
      'pref-src': prefSrc ?? null,
    };
  });
}

function target(context: CompileContext, row: Row, own: ReadonlySet<string>): RouteTarget {
  if (effective(MENU, row, 'blackhole') === 'true') return { kind: 'blackhole' };
  const gateway = requiredValue(MENU, row, 'gateway');
  const hop = parseNexthop(gateway);
  if (!hop) throw new InvalidRow(`gateway: ${gateway} is no next hop`);
  const through = hop.interface === undefined ? undefined : context.interfaces.row('gateway', hop.interface);
  if (hop.address !== undefined) {
    const address = ipv4Text(hop.address);
    if (own.has(address)) throw new InvalidRow(`gateway: ${address} is an address of this router itself`);
    return { kind: 'gateway', address, interface: through ?? null };
  }
  // parseNexthop gives an address, an interface or both.
  if (through === undefined) throw new InvalidRow(`gateway: ${gateway} is no next hop`);
  return { kind: 'interface', interface: through };
}

export const ipRoute: MenuModule = {
  path: '/ip/route',
  compile: (context) => ({ routes: compileRoutes(context) }),
  check: checkRoute,
  view: (menu, { store, live }) => routesView(menu, store, live),
};
