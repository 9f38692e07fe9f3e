import { describe, expect, it } from 'vitest';
import { isLoopback, networkOf, oneAddress } from '../../src/auth/address.js';

describe('who limits hold for', () => {
  it.each([
    ['203.0.113.5', '203.0.113.5'],
    ['203.0.113.5:4711', '203.0.113.5'],
    ['::ffff:203.0.113.5', '203.0.113.5'],
    ['::FFFF:cb00:7105', '203.0.113.5'],
    ['[::ffff:cb00:7105]:443', '203.0.113.5'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::2', '2001:db8:0:0::/64'],
    ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['127.x', 'unknown'],
    ['anybody', 'unknown'],
    ['', 'unknown'],
  ])('of %j is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('of the machine itself is known by addresses, not by texts that begin alike', () => {
    expect(['127.0.0.1', '127.9.9.9:80', '::1', '[::1]:80', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true);
    expect(['127.x', '127.0.0.1.example.net', '128.0.0.1', ''].some(isLoopback)).toBe(false);
  });

  it('is one text however it is written', () => {
    expect(oneAddress('2001:DB8:0:0:0:0:0:1')).toBe('2001:db8::1');
  });
});
