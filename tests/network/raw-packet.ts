import type { Host } from './netns.ts';

/** IPv4 packets that no socket makes: with any options, from any address, in fragments. */

export const ICMP = 1;
export const TCP = 6;
export const UDP = 17;

export interface Header {
  readonly src: string;
  readonly dst: string;
  readonly protocol: number;
  /** Options (RFC 791 §3.1); filled up to a multiple of 4 bytes. */
  readonly options?: readonly number[];
  readonly ident?: number;
  /** Offset of a fragment in bytes, and whether more follow. */
  readonly fragment?: readonly [offset: number, more: boolean];
}

export const addressBytes = (address: string): number[] => address.split('.').map(Number);

/** Internet checksum (RFC 1071). */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** A packet with this payload. */
export function ipv4(
  { src, dst, protocol, options = [], ident = 0x1234, fragment = [0, false] }: Header,
  payload: Buffer,
): Buffer {
  const padded = [...options, ...Array.from({ length: (4 - (options.length % 4)) % 4 }, () => 0)];
  const header = Buffer.alloc(20 + padded.length);
  header.writeUInt8(0x40 | (header.length / 4), 0);
  header.writeUInt16BE(header.length + payload.length, 2);
  header.writeUInt16BE(ident, 4);
  header.writeUInt16BE((fragment[1] ? 0x2000 : 0) | (fragment[0] / 8), 6);
  header.writeUInt8(64, 8);
  header.writeUInt8(protocol, 9);
  header.set(addressBytes(src), 12);
  header.set(addressBytes(dst), 16);
  header.set(padded, 20);
  header.writeUInt16BE(checksum(header), 10);
  return Buffer.concat([header, payload]);
}

/** An UDP datagram without checksum, which IPv4 permits. */
export function udp(from: number, to: number, text: string): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(from, 0);
  header.writeUInt16BE(to, 2);
  header.writeUInt16BE(8 + text.length, 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

/** A SYN segment between these addresses, without options. */
export function syn(src: string, dst: string, from: number, to: number): Buffer {
  const segment = Buffer.alloc(20);
  segment.writeUInt16BE(from, 0);
  segment.writeUInt16BE(to, 2);
  segment.writeUInt32BE(from, 4);
  segment.writeUInt8(0x50, 12);
  segment.writeUInt8(0x02, 13);
  segment.writeUInt16BE(1024, 14);
  const pseudo = Buffer.from([...addressBytes(src), ...addressBytes(dst), 0, TCP, 0, segment.length]);
  segment.writeUInt16BE(checksum(Buffer.concat([pseudo, segment])), 16);
  return segment;
}

/** An echo request with this text behind its header (RFC 792). */
export function echoRequest(identifier: number, sequence: number, text: string): Buffer {
  // An even number of bytes, as the checksum takes two at a time.
  const message = Buffer.concat([Buffer.alloc(8), Buffer.from(text), Buffer.alloc(text.length % 2)]);
  message.writeUInt8(8, 0);
  message.writeUInt16BE(identifier, 4);
  message.writeUInt16BE(sequence, 6);
  message.writeUInt16BE(checksum(message), 2);
  return message;
}

/** A redirect for the host that a packet is for, to this gateway (RFC 792). */
export function redirect(gateway: string, quoted: Buffer): Buffer {
  const message = Buffer.concat([Buffer.from([5, 1, 0, 0, ...addressBytes(gateway)]), quoted]);
  message.writeUInt16BE(checksum(message), 2);
  return message;
}

/** Perl is on every Debian, and has raw sockets. */
const SEND = `
use Socket;
socket(my $socket, PF_INET, SOCK_RAW, 255) or die "socket: $!";
for my $hex (@ARGV) {
  my $packet = pack("H*", $hex);
  my $address = substr($packet, 16, 4);
  defined(send($socket, $packet, 0, scalar(sockaddr_in(0, $address)))) or die "send: $!";
}`;

/** Sends packets from a host as they are. */
export function sendRaw(host: Host, ...packets: readonly Buffer[]): void {
  host.must('perl', '-e', SEND, ...packets.map((packet) => packet.toString('hex')));
}
