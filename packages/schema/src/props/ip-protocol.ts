import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

/** Numbers of the protocols that have names here (IANA protocol numbers). */
export const IP_PROTOCOL = {
  icmp: 1,
  igmp: 2,
  ggp: 3,
  'ip-encap': 4,
  st: 5,
  tcp: 6,
  egp: 8,
  pup: 12,
  udp: 17,
  hmp: 20,
  'xns-idp': 22,
  rdp: 27,
  'iso-tp4': 29,
  dccp: 33,
  xtp: 36,
  ddp: 37,
  'idpr-cmtp': 38,
  ipv6: 41,
  rsvp: 46,
  gre: 47,
  'ipsec-esp': 50,
  'ipsec-ah': 51,
  icmpv6: 58,
  rspf: 73,
  vmtp: 81,
  ospf: 89,
  ipip: 94,
  etherip: 97,
  encap: 98,
  pim: 103,
  vrrp: 112,
  l2tp: 115,
  sctp: 132,
  'udp-lite': 136,
} as const;
const NUMBERS: Readonly<Record<string, number>> = IP_PROTOCOL;
const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(NUMBERS).map(([name, number]) => [number, name]));

/** Whether the data plane reads ports from packets of a protocol: only for TCP and UDP. */
export const hasPorts = (protocol: number): boolean => protocol === IP_PROTOCOL.tcp || protocol === IP_PROTOCOL.udp;

/** Number of a protocol name or number text; undefined when it is none. */
export function protocolNumber(text: string): number | undefined {
  if (Object.hasOwn(NUMBERS, text)) return NUMBERS[text];
  return /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}

/** Canonical text of a protocol number: its name, or the number. */
export const protocolText = (number: number): string => NAMES.get(number) ?? String(number);

const ACCEPTS = 'a protocol name such as tcp, udp or icmp, or a number 0..255';

/** IP protocol. */
export const ipProtocol: Kind = {
  name: 'ip-protocol',
  accepts: ACCEPTS,
  parse(text) {
    const number = protocolNumber(text.toLowerCase());
    return number === undefined
      ? { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` }
      : { ok: true, value: protocolText(number) };
  },
  display(value) {
    const number = protocolNumber(value);
    return number === undefined || !NAMES.has(number) ? value : `${number} (${protocolText(number)})`;
  },
  compare: (a, b) => (protocolNumber(a) ?? 256) - (protocolNumber(b) ?? 256),
  closedSet: true,
  values: ['tcp', 'udp', 'icmp', ...Object.keys(NUMBERS).filter((name) => !['tcp', 'udp', 'icmp'].includes(name))],
  jsonSchema: { type: ['string', 'integer'] },
};
