import { ipv4Mask, ipv4Prefix, ipv4Text } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';

/** Network of `a.b.c.d/n`. */
export function networkOf(address: string): string | undefined {
  const prefix = ipv4Prefix(address);
  return prefix && ipv4Text((prefix.address & ipv4Mask(prefix.length)) >>> 0);
}

/** Properties that follow from the stored ones of a row and are shown with it. */
export function derivedValues(menu: string, { values }: Row): Readonly<Record<string, string>> {
  if (menu !== '/ip/address') return {};
  const network = values.network ?? networkOf(values.address ?? '');
  return {
    ...(network === undefined ? {} : { network }),
    ...(values.interface === undefined ? {} : { 'actual-interface': values.interface }),
  };
}
