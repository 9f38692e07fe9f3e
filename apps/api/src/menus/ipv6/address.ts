import type { Ipv6AddressInfo } from '@tollway/dataplane-agent';
import { FIRST_AUTOCONFIGURED_ROW, FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import { durationText, ipv6, ipv6Prefix, isAdvertisable, isLinkLocal } from '@tollway/schema';
import { compileIpv6Addresses } from '../../compiler/ipv6-addresses.js';
import { noIpv6Host } from '../../config/checks/addresses.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { interfaceNames } from '../../snapshot/interfaces.js';
import type { KeyOf } from '../../snapshot/rows-by-key.js';
import { type Row, rowIdText } from '../../snapshot/snapshot.js';
import { vrfNames, vrfsByInterface } from '../../snapshot/vrfs.js';
import type { LiveState } from '../../state/live-state.js';
import type { ReadLive } from '../../view/live-rows.js';
import { ArrayRows, type RestRow, UNAVAILABLE_ROWS, yesNo } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

/** The address of `address/length`, as a number. */
const addressOf = (text: string | undefined): bigint | undefined => ipv6((text ?? '').split('/', 1)[0] ?? '');

/**
 * What two rows must not have in common: an address. Link-local ones, and those whose identifier follows from the
 * interface, may be on several interfaces.
 */
const identity: KeyOf = (values) => {
  const address = addressOf(values.address);
  if (address === undefined) return undefined;
  if (values['eui-64'] === 'true') return `${ipv6Prefix(values.address ?? '')?.address} ${values.interface}`;
  return isLinkLocal(address) ? `${address} ${values.interface}` : String(address);
};

function checkAddress({ values, given, others, snapshot }: ProposedRow): FieldError | undefined {
  const text = values.address ?? '';
  const address = addressOf(text);
  const network = ipv6Prefix(text);
  if (address === undefined || network === undefined) return undefined;
  const { length } = network;
  const made = values['eui-64'] === 'true';
  if (length === 0) {
    return fieldError(
      'address',
      `value of address: ${text} has no network, every address would be a neighbour; give a prefix length of 1 to 128`,
    );
  }
  if (made && length !== 64) {
    const property = given.has('eui-64') ? 'eui-64' : 'address';
    return fieldError(
      property,
      `value of ${property}: with eui-64 the last 64 bits follow from the interface; give a prefix length of 64, not ${length}`,
    );
  }
  const reason = noIpv6Host(address);
  if (reason) return fieldError('address', `value of address: ${text} is ${reason}; give the address of a host`);
  // In a /127 and a /128 all addresses are hosts (RFC 6164).
  if (!made && length < 127 && address === network.address) {
    return fieldError(
      'address',
      `value of address: ${text} is the subnet-router anycast address of its network; give the address of a host, or set eui-64`,
    );
  }
  if (values.advertise === 'true' && !isAdvertisable(text)) {
    const property = given.has('advertise') ? 'advertise' : 'address';
    return fieldError(
      property,
      `value of ${property}: hosts make themselves addresses only in networks of 64 bits that are not link-local; give such an address, or advertise=no`,
    );
  }
  const key = identity(values);
  const vrfs = vrfsByInterface(snapshot);
  const vrfOf = (name: string | undefined) => vrfs.get(name ?? '');
  const inSame = (other: Row) => vrfOf(other.values.interface) === vrfOf(values.interface);
  if (typeof key === 'string' && others.having(identity, key).some(inSame)) {
    return fieldError(
      'address',
      `failure: already have such address: ${text.split('/')[0]} (value of address must be unique)`,
    );
  }
  return undefined;
}

const UNUSED = {
  tentative: () => 'not used before it is known whether another station has it',
  duplicate: (address: string) => `another station has the address ${address}: it is not used`,
  preferred: () => undefined,
} as const;

const scopeOf = (address: bigint): RestRow => {
  const own = isLinkLocal(address);
  return { global: yesNo(!own), 'link-local': yesNo(own) };
};

/** States of the addresses, and the link-local ones that the router has made. */
const readAddresses =
  (live: LiveState): ReadLive =>
  async (maxAgeMs) => {
    const known = await live.ipv6Addresses(maxAgeMs);
    const infos = new Map(known?.map((info) => [info.row, info]));
    return ({ snapshot, invalid, rows }) => {
      const byId = new Map(rows.map((row) => [row.id, row]));
      const names = interfaceNames(snapshot);
      const vrfOf = vrfNames(snapshot);
      const made = known
        ?.filter(({ row }) => row === 0 || row >= FIRST_AUTOCONFIGURED_ROW)
        .map((info) => madeRow(info, names.get(info.interface), vrfOf(names.get(info.interface))));
      const value = (id: number, property: string): string | undefined => {
        const [row, info] = [byId.get(id), infos.get(id)];
        const values = row?.values ?? {};
        switch (property) {
          case 'advertise':
            return values.advertise ?? yesNo(isAdvertisable(values.address ?? ''));
          case 'actual-interface':
            return values.interface;
          case 'vrf':
            return vrfOf(values.interface);
          case 'invalid':
            return yesNo(invalid.has(id) || info?.state === 'duplicate');
          case 'hint':
            return invalid.get(id) ?? (info === undefined ? undefined : hintOf(info, values['eui-64'] === 'true'));
          default:
            return scopeOf(addressOf(values.address) ?? 0n)[property];
        }
      };
      return {
        values: {
          properties: ['advertise', 'actual-interface', 'vrf', 'invalid', 'hint', 'global', 'link-local'],
          value,
        },
        below: made === undefined ? UNAVAILABLE_ROWS : new ArrayRows(made),
      };
    };
  };

/** What is not seen in the row: why the address is not used, or the one that was made. */
const hintOf = ({ state, address }: Ipv6AddressInfo, isMade: boolean): string | undefined =>
  UNUSED[state](address) ?? (isMade ? `the address is ${address}` : undefined);

/** The time that is left of an address of an advertised network. */
function lifetimesOf({ lifetimes }: Ipv6AddressInfo): RestRow {
  if (!lifetimes) return {};
  const { 'valid-s': valid = null, 'preferred-s': preferred = null } = lifetimes;
  const text = (seconds: number | null) => (seconds === null ? 'forever' : durationText(seconds * 1_000));
  return { valid: text(valid), preferred: text(preferred), deprecated: yesNo(preferred === 0) };
}

/**
 * An address that the router has made: a link-local one, of which there is one for each interface, or one of a network
 * that is advertised to it.
 */
function madeRow(info: Ipv6AddressInfo, name: string | undefined, vrf: string): RestRow {
  const hint = hintOf(info, false);
  const shown = name ?? 'unknown';
  return {
    '.id': rowIdText(FIRST_DYNAMIC_ROW + (info.row === 0 ? info.interface : info.row)),
    address: `${info.address}/${info['prefix-len']}`,
    interface: shown,
    'actual-interface': shown,
    vrf,
    'eui-64': yesNo(info.row !== 0),
    advertise: 'false',
    'no-dad': 'false',
    disabled: 'false',
    invalid: yesNo(info.state === 'duplicate'),
    dynamic: 'true',
    ...scopeOf(ipv6(info.address) ?? 0n),
    ...lifetimesOf(info),
    ...(hint !== undefined && { hint }),
  };
}

export const ipv6Address: MenuModule = {
  path: '/ipv6/address',
  compile: (context) => ({ addresses: context.once(compileIpv6Addresses) }),
  check: checkAddress,
  liveRows: ({ live }) => readAddresses(live),
};
