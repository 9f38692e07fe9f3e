import { quoted } from './props/quoted.js';

/** A packet, by property of `/tool/packet-trace`: `src-address`, `dst-port`, `in-interface` … */
export type PacketArguments = Readonly<Record<string, string>>;

/** An address of either family and its port: one of IPv6 is in brackets where it has a port. */
const ADDRESS =
  '((?:\\d{1,3}\\.){3}\\d{1,3}|\\[[0-9A-Fa-f:.]+\\]|(?<![\\w:.[])[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)(?::(\\d{1,5}))?';
/** `192.168.88.10:40000 → 1.1.1.1:443`, `[fe80::1]:40000 → [fe80::2]:443`; the arrow may be `->`, `→` or `to`. */
const ENDPOINTS = new RegExp(`${ADDRESS}\\s*(?:->|→|\\bto\\b)\\s*${ADDRESS}`);

/**
 * Addresses of a translated packet on the wire, which come first within parentheses: `NAT
 * 1.1.1.1:443->(203.0.113.2:40000->192.168.88.10:40000)`.
 */
const TRANSLATION = new RegExp(`\\bNAT ${translated(ADDRESS)}->${translated(ADDRESS)}`);

function translated(address: string): string {
  const unnamed = address.replaceAll(/\((?!\?)/g, '(?:');
  return `\\(?${address}(?:->${unnamed}\\))?`;
}

/** Optional parts next to the endpoints, in any order; the group is the value of the property. */
const PARTS: readonly (readonly [string, RegExp])[] = [
  ['in-interface', /\bin[: ] *([A-Za-z0-9][\w.+-]*)/],
  ['packet-size', /\blen(?:gth)?[: ] *(\d{1,5})\b(?:, \d+ packets)?/],
  ['ttl', /\bttl[: ] *(\d{1,3})\b/],
  [
    'tcp-flags',
    /(?:\bflags[: ] *|\()((?:fin|syn|rst|psh|ack|urg|ece|cwr)(?:,(?:fin|syn|rst|psh|ack|urg|ece|cwr))*)\)?/i,
  ],
  ['icmp-options', /\(?\btype[: ] *(\d{1,3}, code \d{1,3}|\d{1,3}(?::\d{1,3})?)\)?/],
  [
    'protocol',
    /\b(?:proto(?:col)?[: ] *)?(tcp|udp|icmpv6|icmp|igmp|gre|ospf|vrrp|sctp|l2tp|ipip)\b|\bproto(?:col)?[: ] *(\d{1,3})\b/i,
  ],
];

const isIpv6 = (address: string): boolean => address.includes(':');

const IDENTIFIER = /\bid[: ] *(\d{1,5})\b/;

/** Parts of a log line of the firewall that do not describe the packet. */
const NOISE: readonly RegExp[] = [
  /^.*?\b(?=[\w-]+: in:)/,
  /^[\w-]+: (?=in:|out:)/,
  /\bin:\(unknown 0\)/,
  /\bout: ?(?:\(unknown 0\)|[A-Za-z0-9][\w.+-]*)/,
  /\bconnection-state:[a-z,]+/,
  /\bsrc-mac ([0-9a-f]{2}:){5}[0-9a-f]{2}/i,
];

const PACKET_LINE_ACCEPTS =
  'a packet such as tcp 192.168.88.10:40000 -> 1.1.1.1:443 in ether2, or a log line of the firewall';

/**
 * Parses a packet from one line: `tcp 192.168.88.10:40000 → 1.1.1.1:443 in ether2`, optionally with `flags syn`, `type
 * 8`, `len 60`, `ttl 64`; or from a log line of the firewall.
 */
export function parsePacketLine(
  text: string,
): { readonly ok: true; readonly args: PacketArguments } | { readonly ok: false; readonly error: string } {
  let rest = text.slice(0, 500).trim();
  const args: Record<string, string> = {};
  const take = (pattern: RegExp): readonly (string | undefined)[] | undefined => {
    const found = pattern.exec(rest);
    if (found === null) return undefined;
    rest = `${rest.slice(0, found.index)} ${rest.slice(found.index + found[0].length)}`.trim();
    return found;
  };
  for (const noise of NOISE) take(noise);
  // A trace filters packets as they are received, before translation.
  const wire = take(TRANSLATION);
  const decided = take(ENDPOINTS);
  const [, src, srcPort, dst, dstPort] = wire ?? decided ?? [];
  if (src === undefined || dst === undefined)
    return { ok: false, error: `${quoted(text)} is not ${PACKET_LINE_ACCEPTS}` };
  args['src-address'] = src.replace(/[[\]]/g, '');
  args['dst-address'] = dst.replace(/[[\]]/g, '');
  if (srcPort !== undefined) args['src-port'] = srcPort;
  if (dstPort !== undefined) args['dst-port'] = dstPort;
  for (const [property, pattern] of PARTS) {
    const [, first, second] = take(pattern) ?? [];
    const value = first ?? second;
    if (value !== undefined) args[property] = property === 'icmp-options' ? value.replace(', code ', ':') : value;
  }
  for (const name of ['protocol', 'tcp-flags']) if (args[name] !== undefined) args[name] = args[name].toLowerCase();
  args.protocol ??=
    args['src-port'] !== undefined || args['dst-port'] !== undefined
      ? 'tcp'
      : isIpv6(args['src-address'])
        ? 'icmpv6'
        : 'icmp';
  // The source port of an ICMP query or answer is its identifier.
  const isIcmp = args.protocol === 'icmp' || args.protocol === 'icmpv6';
  const identifier = isIcmp && args['src-port'] === undefined ? take(IDENTIFIER)?.[1] : undefined;
  if (identifier !== undefined) args['src-port'] = identifier;
  const unread = rest.replace(/[\s,;()]+/g, ' ').trim();
  if (unread !== '') return { ok: false, error: `${quoted(unread)} is not understood; give ${PACKET_LINE_ACCEPTS}` };
  return { ok: true, args };
}

/** The packet as a line that {@link parsePacketLine} parses; empty unless both addresses are known. */
export function packetLine(args: PacketArguments): string {
  const { protocol, 'src-address': src, 'dst-address': dst, 'in-interface': from, ttl } = args;
  if (src === undefined || dst === undefined) return '';
  const end = (address: string, port: string | undefined): string =>
    port === undefined ? address : `${isIpv6(address) ? `[${address}]` : address}:${port}`;
  const optional = (word: string, value: string | undefined): string[] => (value === undefined ? [] : [word, value]);
  return [
    ...(protocol === undefined ? [] : [/^\d+$/.test(protocol) ? `proto ${protocol}` : protocol]),
    end(src, args['src-port']),
    '→',
    end(dst, args['dst-port']),
    ...optional('in', from),
    ...optional('flags', args['tcp-flags']),
    ...optional('type', args['icmp-options']),
    ...optional('len', args['packet-size']),
    ...optional('ttl', ttl),
  ].join(' ');
}
