import type { Kind, Parsed } from '../kind.js';
import { missingElement, renameInList, renameOne } from './comma-list.js';
import { addresses, compareAddresses, ipv4Mask, ipv4Prefix, ipv4Text } from './ip.js';
import { ipv6Prefix, ipv6Text } from './ipv6.js';
import { quoted } from './quoted.js';
import { interfaceName } from './text.js';

/** Target of a queue: a network, or all hosts behind an interface. */
export type QueueTarget =
  | { readonly address: string; readonly length: number }
  /** Name of the interface, which need not exist. */
  | { readonly interface: string };

/** Parses an IPv4 or IPv6 prefix, a single address, or the name of an interface. */
export function parseQueueTarget(text: string): QueueTarget | undefined {
  const v4 = ipv4Prefix(text);
  if (v4) return { address: ipv4Text((v4.address & ipv4Mask(v4.length)) >>> 0), length: v4.length };
  const v6 = ipv6Prefix(text);
  if (v6) return { address: ipv6Text(v6.address), length: v6.length };
  // An interface name contains a letter, and neither colon nor slash, so that a mistyped address is not mistaken for
  // one.
  return interfaceName.parse(text).ok ? { interface: text } : undefined;
}

/** The canonical text of the target. */
export const queueTargetText = (target: QueueTarget): string =>
  'interface' in target ? target.interface : `${target.address}/${target.length}`;

const ONE = 'an IPv4 or IPv6 prefix or the name of an interface';
const SOME = 'a comma list of IPv4 and IPv6 prefixes and names of interfaces';
const ref = [{ menu: '/interface', prop: 'name' }] as const;

function interfaceOf(value: string): readonly string[] {
  const target = parseQueueTarget(value);
  return target !== undefined && 'interface' in target ? [target.interface] : [];
}

/** One network or interface. */
export const queueTarget: Kind = {
  name: 'queue-target',
  accepts: ONE,
  parse(text) {
    const target = parseQueueTarget(text.trim());
    return target === undefined
      ? { ok: false, error: `${quoted(text)} is not ${ONE}` }
      : { ok: true, value: queueTargetText(target) };
  },
  ...addresses,
  ref,
  references: interfaceOf,
  rename: renameOne,
  jsonSchema: { type: 'string' },
};

/** One or more networks and interfaces, each once, in the order given. */
export const queueTargetList: Kind = {
  name: 'queue-target-list',
  accepts: SOME,
  parse(text): Parsed {
    const missing = missingElement(text, 'a prefix or the name of an interface');
    if (missing !== undefined) return { ok: false, error: `${missing}; give ${SOME}` };
    const targets = text.split(',').map((part) => parseQueueTarget(part.trim()));
    const known = targets.flatMap((target) => target ?? []);
    if (known.length < targets.length) return { ok: false, error: `${quoted(text)} is not ${SOME}` };
    return { ok: true, value: [...new Set(known.map(queueTargetText))].join(',') };
  },
  ...addresses,
  compare: (a, b) => compareAddresses(a.split(',', 1)[0] ?? '', b.split(',', 1)[0] ?? ''),
  ref,
  references: (value) => value.split(',').flatMap(interfaceOf),
  rename: renameInList,
  editor: 'list',
  jsonSchema: { type: 'string' },
};
