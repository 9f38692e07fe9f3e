import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameDecoder } from '../../src/agent/frames.js';

const message = fc.record({ id: fc.nat(), text: fc.string(), bytes: fc.uint8Array({ maxLength: 300 }) });

describe('messages on the wire', () => {
  it('come out as they went in, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 97 })), (sent, cuts) => {
        const stream = Buffer.concat(sent.map(encodeFrame));
        const decoder = new FrameDecoder();
        const received: unknown[] = [];
        for (let at = 0, cut = 0; at < stream.length; cut += 1) {
          const end = at + (cuts[cut % cuts.length] ?? stream.length);
          received.push(...decoder.push(stream.subarray(at, end)));
          at = end;
        }
        expect(received).toEqual(sent.map((one) => ({ ...one, bytes: Buffer.from(one.bytes) })));
      }),
    );
  });

  it('are refused when they are too long', () => {
    expect(() => new FrameDecoder().push(Buffer.from([0xff, 0xff, 0xff, 0xff]))).toThrow('frame of 4294967295 bytes');
    expect(() => new FrameDecoder().push(Buffer.alloc(4))).toThrow('frame of 0 bytes');
  });

  it.each([4_294_967_296, 10_000_000_000, 1_000_000_000_000])('hold %d as an integer', (rate) => {
    const frame = encodeFrame({ list: [{ rate }], small: 7, exact: 4_294_967_295 });
    const hex = BigInt(rate).toString(16).padStart(16, '0');
    // uint 64 (0xcf) or int 64 (0xd3) of the MessagePack specification; 0xcb would be a float 64.
    expect(frame.toString('hex')).toMatch(new RegExp(`(cf|d3)${hex}`));
    expect(frame.toString('hex')).not.toContain('cb');
  });
});
