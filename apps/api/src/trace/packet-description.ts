import {
  ADDRESS_BITS,
  type AddressFamily,
  addressText,
  type Command,
  hasPorts,
  IP_PROTOCOL,
  networkOf,
  type PacketArguments,
  parseIcmpOptions,
  parsePacketLine,
  protocolNumber,
  TCP_FLAGS,
} from '@tollway/schema';
import type { PacketDescription, TraceFilter } from '../agent/messages.js';
import type { AgentPort } from '../agent/port.js';
import { argumentValues } from '../config/arguments.js';
import type { Arguments } from '../config/content.js';
import { errors } from '../errors.js';
import { interfaceNamed, interfaceNames } from '../snapshot/interfaces.js';
import type { ConfigSnapshot } from '../snapshot/snapshot.js';

/** Converts arguments of `/tool/packet-trace` to requests to the data plane. */

/**
 * Values of the arguments of a command of `/tool/packet-trace`. Precedence: arguments given explicitly, then values
 * from the line `packet`, then defaults.
 * @throws ApiError naming the first argument that is not accepted.
 */
export function packetArguments(command: Command | undefined, args: Arguments): PacketArguments {
  if (command === undefined) throw new Error('/tool/packet-trace has no such command');
  const { packet: line = '' } = argumentValues(command, args);
  const parsed = line === '' ? undefined : parsePacketLine(line);
  if (parsed?.ok === false) throw errors.badProperty('packet', `value of packet: ${parsed.error}`);
  // A log line may contain more properties of a packet than the command accepts.
  const read = Object.entries(parsed?.args ?? {}).filter(([name]) => Object.hasOwn(command.args, name));
  const given = Object.entries(args).filter(([, value]) => value !== '');
  return argumentValues(command, Object.fromEntries([...read, ...given]));
}

/**
 * Filter of a live trace. @throws ApiError for an interface that does not exist, and for ports with a protocol that has
 * none.
 */
export function traceFilter(args: PacketArguments, snapshot: ConfigSnapshot): TraceFilter {
  const prefix = (name: string) => {
    const family = familyOf(args[name]);
    const network = networkOf(args[name] ?? '', family);
    return network && { address: addressText(network.first, family), 'prefix-len': network.length };
  };
  const number = (name: string) => (args[name] === undefined ? null : Number(args[name]));
  const protocol = args.protocol === undefined ? undefined : protocolNumber(args.protocol);
  if (protocol !== undefined) refusePorts(protocol, args);
  return {
    'src-address': prefix('src-address') ?? null,
    'dst-address': prefix('dst-address') ?? null,
    protocol: protocol ?? null,
    'src-port': number('src-port'),
    'dst-port': number('dst-port'),
    'in-interface': args['in-interface'] === undefined ? null : incomingInterface(args['in-interface'], snapshot),
    dropped: args.dropped === 'true',
  };
}

const { tcp: TCP, icmp: ICMP, icmpv6: ICMPV6 } = IP_PROTOCOL;
/** The ICMP of a family, and its type of echo requests (RFC 792, RFC 4443 section 4.1). */
const ECHO_REQUEST = { ip: { protocol: ICMP, type: 8 }, ipv6: { protocol: ICMPV6, type: 128 } } as const;

const familyOf = (text = ''): AddressFamily => (text.includes(':') ? 'ipv6' : 'ip');
const SYN = 2;

/**
 * The packet of a dry run. Without an explicit interface it is the one by which the data plane would send to the
 * source; none if the source is the router itself.
 * @throws ApiError for arguments that do not describe one packet.
 */
export async function packetDescription(
  args: PacketArguments,
  snapshot: ConfigSnapshot,
  agent: Pick<AgentPort, 'request'>,
): Promise<PacketDescription> {
  const source = oneAddress('src-address', args);
  const destination = oneAddress('dst-address', args);
  const family = familyOf(source);
  if (familyOf(destination) !== family) {
    throw errors.badProperty('dst-address', `value of dst-address: ${destination} is not of the family of ${source}`);
  }
  const echo = ECHO_REQUEST[family];
  const givesPorts = args['src-port'] !== undefined || args['dst-port'] !== undefined;
  const usual = givesPorts ? TCP : echo.protocol;
  const protocol = args.protocol === undefined ? usual : (protocolNumber(args.protocol) ?? usual);
  refusePorts(protocol, args);
  const named = args['in-interface'];
  const icmp = parseIcmpOptions(args['icmp-options'] ?? '');
  const flags = args['tcp-flags']?.split(',');
  return {
    'in-interface': named === undefined ? await interfaceBehind(source, agent) : incomingInterface(named, snapshot),
    protocol,
    'src-address': source,
    'dst-address': destination,
    'src-port': Number(args['src-port'] ?? 0),
    'dst-port': Number(args['dst-port'] ?? 0),
    'icmp-type': icmp?.type ?? echo.type,
    'icmp-code': icmp?.codeFrom ?? 0,
    'tcp-flags':
      flags === undefined
        ? SYN
        : TCP_FLAGS.reduce((sum, flag, bit) => (flags.includes(flag) ? sum | (1 << bit) : sum), 0),
    length: Number(args['packet-size']),
    ttl: Number(args.ttl),
  };
}

/** @throws ApiError for ports of a protocol that has none. The source port of an ICMP query is its identifier. */
function refusePorts(protocol: number, args: PacketArguments): void {
  const { 'src-port': source, 'dst-port': destination } = args;
  if (source === undefined && destination === undefined) return;
  if (hasPorts(protocol) || ((protocol === ICMP || protocol === ICMPV6) && destination === undefined)) return;
  const property = destination === undefined ? 'src-port' : 'dst-port';
  throw errors.badProperty(property, `value of ${property}: ports can be specified only if protocol is tcp or udp`);
}

function oneAddress(name: string, args: PacketArguments): string {
  const text = args[name];
  const family = familyOf(text);
  const network = networkOf(text ?? '', family);
  if (network === undefined)
    throw errors.missingProperty(name, 'an IPv4 address a.b.c.d or an IPv6 address; or give packet');
  if (network.length === ADDRESS_BITS[family]) return addressText(network.first, family);
  throw errors.badProperty(name, `value of ${name}: ${text} is a network; a dry run takes one address`);
}

function incomingInterface(name: string, snapshot: ConfigSnapshot): number {
  const row = interfaceNamed(snapshot, name);
  if (row !== undefined) return row.id;
  const names = [...interfaceNames(snapshot).values()].join(', ');
  throw errors.badProperty(
    'in-interface',
    `input does not match any value of in-interface: ${name} is none of ${names || '(none exist)'}`,
  );
}

/** Row of the interface by which a route leads to the address; `null` for an address of the router. */
async function interfaceBehind(address: string, agent: Pick<AgentPort, 'request'>): Promise<number | null> {
  const way = await agent.request({ op: 'route-to', address });
  if (way.local) return null;
  if (way.interface != null) return way.interface;
  throw errors.badProperty(
    'in-interface',
    `in-interface is required: no route leads to ${address}, so the interface it comes in on is not known`,
  );
}
