import { type AddressFamily, addressNumber } from '@tollway/schema';
import type { KeyOf } from '../../snapshot/rows-by-key.js';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';
import { noHost, noIpv6Host, notUnicast } from './addresses.js';

const addressOn: KeyOf = (values) => `${values.address} ${values.interface}`;

/** Check of a static neighbour: a host with an address of one station, once on its interface. */
export const neighborCheck =
  (family: AddressFamily) =>
  ({ values, others }: ProposedRow): FieldError | undefined => {
    const { address = '', interface: name } = values;
    const number = addressNumber(address, family) ?? 0n;
    const reason = family === 'ip' ? noHost(Number(number)) : noIpv6Host(number);
    if (reason) return fieldError('address', `value of address: ${address} is ${reason}; give the address of a host`);
    if (others.has(addressOn, `${address} ${name}`)) {
      return fieldError(
        'address',
        `failure: already have such entry: ${address} on ${name} (value of address must be unique there)`,
      );
    }
    const mac = notUnicast(values['mac-address'] ?? '');
    return mac ? fieldError('mac-address', mac) : undefined;
  };
