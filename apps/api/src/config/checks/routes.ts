import { type AddressFamily, addressNumber, isLinkLocal, parseNexthops } from '@tollway/schema';
import { DISCARDS } from '../../compiler/route-target.js';
import { MAIN_TABLE } from '../../compiler/table-names.js';
import { interfaceName, interfacesOf } from '../../snapshot/interfaces.js';
import { type ConfigSnapshot, rowsOf } from '../../snapshot/snapshot.js';
import { VRFS } from '../../snapshot/vrfs.js';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';
import { noHost, noIpv6Host } from './addresses.js';

const hasTable = (snapshot: ConfigSnapshot, name: string): boolean =>
  name === MAIN_TABLE ||
  ['/routing/table', VRFS].some((menu) => rowsOf(snapshot, menu).some(({ values }) => values.name === name));

const isTableAlone = (snapshot: ConfigSnapshot, name: string): boolean =>
  hasTable(snapshot, name) && !interfacesOf(snapshot).some((row) => interfaceName(row) === name);

/** Check of a route: it has gateways that can be hosts, or discards packets. */
export const routeCheck =
  (family: AddressFamily) =>
  ({ values, menu, snapshot }: ProposedRow): FieldError | undefined => {
    const { gateway } = values;
    const accepts = menu.props.gateway?.kind.accepts;
    const [discard, other] = DISCARDS.filter((kind) => values[kind] === 'true');
    if (gateway === undefined && discard === undefined) {
      return fieldError('gateway', `gateway is required: ${accepts}; or set ${DISCARDS.join(', ')}`);
    }
    if (discard !== undefined && (gateway !== undefined || other !== undefined)) {
      const what = other ?? 'a gateway';
      return fieldError(discard, `value of ${discard}: a route has either ${what} or ${discard}; unset one of them`);
    }
    for (const { address, interface: through, table } of gateway === undefined
      ? []
      : (parseNexthops(gateway, family) ?? [])) {
      if (table !== undefined && !hasTable(snapshot, table)) {
        return fieldError(
          'gateway',
          `value of gateway: there is no routing table ${table}; add it under /routing/table or /ip/vrf`,
        );
      }
      // References tell interfaces and tables of a gateway not apart.
      if (through !== undefined && isTableAlone(snapshot, through)) {
        return fieldError('gateway', `value of gateway: ${through} is a routing table, no interface; give ${accepts}`);
      }
      const number = address === undefined ? undefined : addressNumber(address, family);
      if (number === undefined) continue;
      const reason = family === 'ip' ? noHost(Number(number)) : noIpv6Host(number);
      if (reason !== undefined) {
        return fieldError('gateway', `value of gateway: ${address} is ${reason}; give ${accepts}`);
      }
      if (family === 'ipv6' && isLinkLocal(number) && through === undefined) {
        return fieldError(
          'gateway',
          `value of gateway: ${address} is a link-local address, which each link may have; give ${address}%interface`,
        );
      }
    }
    return undefined;
  };
