import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packetLine, parsePacketLine } from '../src/packet-line.js';

const read = (line: string) => {
  const parsed = parsePacketLine(line);
  return parsed.ok ? parsed.args : parsed.error;
};

describe('a packet in one line', () => {
  const web = {
    protocol: 'tcp',
    'src-address': '192.168.88.10',
    'src-port': '40000',
    'dst-address': '1.1.1.1',
    'dst-port': '443',
  };
  it.each([
    ['tcp 192.168.88.10:40000 → 1.1.1.1:443 in ether2', { ...web, 'in-interface': 'ether2' }],
    ['192.168.88.10:40000->1.1.1.1:443', web],
    ['TCP 192.168.88.10:40000 to 1.1.1.1:443 flags SYN,ack ttl 5', { ...web, 'tcp-flags': 'syn,ack', ttl: '5' }],
    ['10.0.0.1 -> 10.0.0.2', { protocol: 'icmp', 'src-address': '10.0.0.1', 'dst-address': '10.0.0.2' }],
    [
      'icmp 10.0.0.1 -> 10.0.0.2 type 3:4 len 1400',
      {
        protocol: 'icmp',
        'src-address': '10.0.0.1',
        'dst-address': '10.0.0.2',
        'icmp-options': '3:4',
        'packet-size': '1400',
      },
    ],
    [
      'udp [2001:db8::1]:40000 -> [2001:DB8::2]:53 in ether2',
      {
        protocol: 'udp',
        'src-address': '2001:db8::1',
        'src-port': '40000',
        'dst-address': '2001:DB8::2',
        'dst-port': '53',
        'in-interface': 'ether2',
      },
    ],
    ['fe80::1 → ff02::1', { protocol: 'icmpv6', 'src-address': 'fe80::1', 'dst-address': 'ff02::1' }],
    [
      'forward: in:ether2 out:ether1, connection-state:new src-mac 02:00:00:00:00:01, proto ICMPv6 (type 128, code 0), ' +
        'id 7, 2001:db8::1->2001:db8:1::1, len 104',
      {
        protocol: 'icmpv6',
        'src-address': '2001:db8::1',
        'src-port': '7',
        'dst-address': '2001:db8:1::1',
        'in-interface': 'ether2',
        'icmp-options': '128:0',
        'packet-size': '104',
      },
    ],
    [
      'forward: in:ether2 out:ether1, connection-state:new proto TCP (SYN), [fd00::1]:40000->[2001:db8::1]:443, ' +
        'NAT ([fd00::1]:40000->[2001:db8::2]:40000)->[2001:db8::1]:443, len 80',
      {
        protocol: 'tcp',
        'src-address': 'fd00::1',
        'src-port': '40000',
        'dst-address': '2001:db8::1',
        'dst-port': '443',
        'in-interface': 'ether2',
        'tcp-flags': 'syn',
        'packet-size': '80',
      },
    ],
    ['proto 89 10.0.0.1 -> 224.0.0.5', { protocol: '89', 'src-address': '10.0.0.1', 'dst-address': '224.0.0.5' }],
    [
      'blocked forward: in:ether2 out:ether1, connection-state:new src-mac 02:00:00:00:00:01, proto TCP (SYN), ' +
        '192.168.88.10:40000->1.1.1.1:443, len 60',
      { ...web, 'in-interface': 'ether2', 'tcp-flags': 'syn', 'packet-size': '60' },
    ],
    [
      'output: in:(unknown 0) out:ether1, connection-state:established proto ICMP (type 0, code 0), ' +
        '203.0.113.2->203.0.113.1, len 84',
      {
        protocol: 'icmp',
        'src-address': '203.0.113.2',
        'dst-address': '203.0.113.1',
        'icmp-options': '0:0',
        'packet-size': '84',
      },
    ],
    [
      'forward: in:ether1 out:ether2, connection-state:established src-mac 02:00:00:00:00:01, proto TCP (ACK), ' +
        '1.1.1.1:443->192.168.88.10:40000, NAT 1.1.1.1:443->(203.0.113.2:1024->192.168.88.10:40000), len 52',
      {
        protocol: 'tcp',
        'src-address': '1.1.1.1',
        'src-port': '443',
        'dst-address': '203.0.113.2',
        'dst-port': '1024',
        'in-interface': 'ether1',
        'tcp-flags': 'ack',
        'packet-size': '52',
      },
    ],
    [
      'srcnat: in:ether2 out:ether1, connection-state:established proto ICMP (type 8, code 0), ' +
        '203.0.113.2->1.1.1.1, NAT (192.168.88.10->203.0.113.2)->1.1.1.1, len 84',
      {
        protocol: 'icmp',
        'src-address': '192.168.88.10',
        'dst-address': '1.1.1.1',
        'in-interface': 'ether2',
        'icmp-options': '8:0',
        'packet-size': '84',
      },
    ],
    [
      'forward: in:ether1 out:ether2, connection-state:established src-mac 02:00:00:00:00:01, ' +
        'proto ICMP (type 0, code 0), id 4711, 1.1.1.1->192.168.88.10, ' +
        'NAT 1.1.1.1->(203.0.113.2->192.168.88.10), len 84',
      {
        protocol: 'icmp',
        'src-address': '1.1.1.1',
        'dst-address': '203.0.113.2',
        'src-port': '4711',
        'in-interface': 'ether1',
        'icmp-options': '0:0',
        'packet-size': '84',
      },
    ],
    [
      'forward: in:ether2 out:ether1, connection-state:established src-mac 02:00:00:00:00:01, proto TCP (PSH,ACK), ' +
        '192.168.88.10:40000->1.1.1.1:443, len 1500, 43 packets',
      { ...web, 'in-interface': 'ether2', 'tcp-flags': 'psh,ack', 'packet-size': '1500' },
    ],
  ])('%s', (line, args) => {
    expect(read(line)).toEqual(args);
  });

  it('that says too little or too much is refused with what is accepted', () => {
    expect(read('tcp 10.0.0.1')).toMatch(/^tcp 10.0.0.1 is not a packet such as tcp 192/);
    expect(read('')).toMatch(/^an empty value is not a packet/);
    expect(read('tcp 10.0.0.1:5 -> 10.0.0.2:80 id 7')).toMatch(/^id 7 is not understood/);
    expect(read('10.0.0.1 -> 10.0.0.2 quickly')).toMatch(/^quickly is not understood; give a packet such as/);
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => void parsePacketLine(text)));
  });

  it('is read back as it was written', () => {
    const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });
    const address = octets.map((each) => each.join('.'));
    const number = (max: number) => fc.integer({ min: 0, max }).map(String);
    const packet = fc.record(
      {
        protocol: fc.constantFrom('tcp', 'udp', 'icmp', 'gre', '89'),
        'src-address': address,
        'dst-address': address,
        'src-port': number(65_535),
        'dst-port': number(65_535),
        'in-interface': fc.constantFrom('ether1', 'wan-2', 'LAN.5'),
        'tcp-flags': fc.constantFrom('syn', 'syn,ack', 'rst'),
        'icmp-options': fc.constantFrom('8', '3:4'),
        'packet-size': number(65_535),
        ttl: number(255),
      },
      { requiredKeys: ['protocol', 'src-address', 'dst-address'] },
    );
    fc.assert(
      fc.property(packet, (args) => {
        expect(read(packetLine(args))).toEqual(args);
      }),
    );
  });
});
