import { type AddressFamily, addressNumber, isLinkLocal, parseNexthops } from '@tollway/schema';
import { DISCARDS } from '../../compiler/route-target.js';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';
import { noHost, noIpv6Host } from './addresses.js';

/** Check of a route: it has gateways that can be hosts, or discards packets. */
export const routeCheck =
  (family: AddressFamily) =>
  ({ values, menu }: ProposedRow): FieldError | undefined => {
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
    for (const { address, interface: through } of gateway === undefined ? [] : (parseNexthops(gateway, family) ?? [])) {
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
