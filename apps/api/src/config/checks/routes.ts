import { ipv4Text, parseNexthop } from '@tollway/schema';
import { type FieldError, fault, type ProposedRow } from '../proposed-row.js';
import { noHost } from './addresses.js';

/** `/ip/route` */
export function checkRoute({ values, menu }: ProposedRow): FieldError | undefined {
  const { gateway, blackhole } = values;
  const accepts = menu.props.gateway?.kind.accepts;
  if (gateway === undefined && blackhole !== 'true') {
    return fault('gateway', `gateway is required: ${accepts}; or set blackhole`);
  }
  if (gateway !== undefined && blackhole === 'true') {
    return fault('blackhole', 'value of blackhole: a route has either a gateway or blackhole; unset one of them');
  }
  const address = gateway === undefined ? undefined : parseNexthop(gateway)?.address;
  const reason = address === undefined ? undefined : noHost(address);
  if (address !== undefined && reason) {
    return fault('gateway', `value of gateway: ${ipv4Text(address)} is ${reason}; give ${accepts}`);
  }
  return undefined;
}
