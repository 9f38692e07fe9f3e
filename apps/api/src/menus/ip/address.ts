import { ipv4Mask, ipv4Network, ipv4Prefix, type Menu } from '@tollway/schema';
import { compileAddresses } from '../../compiler/addresses.js';
import { noHost } from '../../config/checks/addresses.js';
import { derivedValues } from '../../config/derived.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import type { ConfigStore } from '../../config/store.js';
import type { KeyOf } from '../../snapshot/rows-by-key.js';
import type { Row } from '../../snapshot/snapshot.js';
import { vrfNames, vrfsByInterface } from '../../snapshot/vrfs.js';
import type { View } from '../../view/rows.js';
import { StoredParts, StoredRows } from '../../view/stored-rows.js';
import type { MenuModule } from '../module.js';

/** The address itself, as a number. */
const hostOf: KeyOf = (values) => ipv4Prefix(values.address ?? '')?.address.toString();

function checkAddress({ values, given, others, snapshot }: ProposedRow): FieldError | undefined {
  const text = values.address ?? '';
  const prefix = ipv4Prefix(text);
  if (!prefix) return undefined;
  const { address, length } = prefix;
  if (length === 0) {
    return fieldError(
      'address',
      `value of address: ${text} has no network, every address would be a neighbour; give a prefix length of 1 to 32`,
    );
  }
  const reason = noHost(address) ?? noHostIn(address, length);
  if (reason) return fieldError('address', `value of address: ${text} is ${reason}; give the address of a host`);
  const network = given.has('address') && !given.has('network') ? undefined : values.network;
  const expected = ipv4Network(text);
  if (network !== undefined && length !== 32 && network !== expected) {
    return fieldError(
      'network',
      `value of network: ${network} is not the network of ${text}; give ${expected} or leave it out`,
    );
  }
  const vrfs = vrfsByInterface(snapshot);
  const vrfOf = (name: string | undefined) => vrfs.get(name ?? '');
  // In different VRFs an address may be there once in each.
  const same = others
    .having(hostOf, String(address))
    .some((other) => vrfOf(other.values.interface) === vrfOf(values.interface));
  if (same) {
    return fieldError(
      'address',
      `failure: already have such address: ${text.split('/')[0]} (value of address must be unique)`,
    );
  }
  return undefined;
}

/**
 * Description of an address that cannot be a host's in its network. In a /31 and /32 all addresses are hosts (RFC
 * 3021).
 */
function noHostIn(address: number, length: number): string | undefined {
  if (length >= 31) return undefined;
  const host = (address & ~ipv4Mask(length)) >>> 0;
  if (host === 0) return 'the address of the network itself';
  if (host === ~ipv4Mask(length) >>> 0) return 'the broadcast address of its network';
  return undefined;
}

const NO_NETWORK = 'the address has no network: without a prefix length such as /24 no neighbour is reached by it';

/** Hint for an address with prefix length 32 and without a peer: most likely its prefix length was forgotten. */
function hintOf({ values, disabled }: Row): string | undefined {
  const alone = /\/32$/.test(values.address ?? '') && values.network === undefined && !disabled;
  return alone ? NO_NETWORK : undefined;
}

/** Addresses with their networks. */
function addressesView(menu: Menu, store: ConfigStore): View {
  const parts = new StoredParts(menu);
  return async () => {
    const { snapshot, invalid } = store;
    const vrfOf = vrfNames(snapshot);
    return new StoredRows(
      snapshot.get(menu.path) ?? [],
      (row) => ({
        ...parts.of(row, invalid.get(row.id), hintOf(row)),
        ...derivedValues(menu, row),
        vrf: vrfOf(row.values.interface),
      }),
      undefined,
    );
  };
}

export const ipAddress: MenuModule = {
  path: '/ip/address',
  compile: (context) => ({ addresses: context.once(compileAddresses) }),
  check: checkAddress,
  view: (menu, { store }) => addressesView(menu, store),
};
