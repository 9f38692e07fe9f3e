import type { Host } from './netns.ts';

/** Ethernet frames with any tags, sent by a host and received as they are on the wire. */

/** A tag: the kind of VLAN, and the 16 bits behind it, of which the lower 12 are the number. */
export interface Tag {
  readonly type: 0x8100 | 0x88a8;
  readonly control: number;
}

/** Numbers and tags on the wire: `8100:000a/88a8:0014`, empty for an untagged frame. */
export const tagText = (tags: readonly Tag[]): string =>
  tags.map(({ type, control }) => `${type.toString(16)}:${control.toString(16).padStart(4, '0')}`).join('/');

const mac = (text: string): Buffer => Buffer.from(text.replaceAll(':', ''), 'hex');

/** A frame that carries an IPv4 packet. */
export function frame(dst: string, src: string, tags: readonly Tag[], packet: Buffer): Buffer {
  const words = [...tags.flatMap(({ type, control }) => [type, control]), 0x0800];
  const types = Buffer.alloc(2 * words.length);
  for (const [at, word] of words.entries()) types.writeUInt16BE(word, 2 * at);
  return Buffer.concat([mac(dst), mac(src), types, packet]);
}

/**
 * Sends each frame, and prints for each what comes within its time: the tags and the kind of every frame that holds the
 * text. The kernel takes the outer tag of a received frame and reports it beside it (packet(7)).
 */
const EXCHANGE = `
import socket, struct, sys, time
ETH_P_ALL, PACKET_AUXDATA, SOL_PACKET = 3, 8, 263
peer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
peer.bind((sys.argv[1], ETH_P_ALL))
peer.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
text, own = bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])
for sent in sys.argv[4:]:
    peer.send(bytes.fromhex(sent))
    end, seen = time.monotonic() + 0.15, []
    while time.monotonic() < end:
        peer.settimeout(max(0.001, end - time.monotonic()))
        try:
            data, control, flags, address = peer.recvmsg(2048, 256)
        except TimeoutError:
            break
        # Its own frames come back as outgoing ones.
        if address[2] == 4 or data[6:12] == own or text not in data:
            continue
        tags, at = [], 12
        for level, kind, aux in control:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, _, _, _, _, tci, tpid = struct.unpack('IIIHHHH', aux[:20])
                if status & 0x10:
                    tags.append((tpid if status & 0x40 else 0x8100, tci))
        while struct.unpack('!H', data[at:at + 2])[0] in (0x8100, 0x88a8):
            tags.append(struct.unpack('!HH', data[at:at + 4]))
            at += 4
        seen.append('/'.join('%x:%04x' % tag for tag in tags) or '-')
    print(','.join(sorted(set(seen))) or 'nothing')
`;

/**
 * Sends frames from a device of a host one after the other. Returns for each the tags of the frames that came back with the
 * text in them, as {@link tagText} has them (`-` for none), or `nothing`.
 */
export function exchange(host: Host, device: string, own: string, text: string, frames: readonly Buffer[]): string[] {
  const words = [
    Buffer.from(text).toString('hex'),
    own.replaceAll(':', ''),
    ...frames.map((each) => each.toString('hex')),
  ];
  return host
    .must('python3', '-c', EXCHANGE, device, ...words)
    .trim()
    .split('\n');
}
