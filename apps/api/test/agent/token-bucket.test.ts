import { expect, it } from 'vitest';
import { tokenBucketSamples } from '../../src/agent/token-bucket.js';

interface Way {
  bytes?: number;
  waiting?: number;
  tokens?: bigint;
  kbit?: number;
}

/** A record as `ReplyBody::TokenBucket` describes it. */
function record(ms: number, upload: Way, download: Way): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.writeBigUInt64LE(BigInt(ms), 0);
  for (const [at, { bytes: passed = 0, waiting = 0, tokens = 0n, kbit = 0 }] of [
    [8, upload],
    [36, download],
  ] as const) {
    bytes.writeUInt32LE(passed, at);
    bytes.writeUInt32LE(waiting, at + 8);
    bytes.writeBigInt64LE(tokens, at + 12);
    bytes.writeUInt32LE(kbit, at + 24);
  }
  return bytes;
}

const slots = (...records: Buffer[]) => tokenBucketSamples({ records: Buffer.concat(records) }, 0, 1_000);

it('tells the bucket of two workers once: each has a direction', () => {
  const first = record(7, { bytes: 2500, tokens: 12n, kbit: 20_000 }, {});
  const second = record(7, {}, { bytes: 900, tokens: -5n, kbit: 40_000 });
  const [slot] = slots(first, second);
  expect(slot).toMatchObject({
    upload: { bytes: 2500, tokens: 12, rate: 20_000_000 },
    download: { bytes: 900, tokens: -5, rate: 40_000_000 },
  });
});

it('takes the bucket from where it is, not from where it was', () => {
  // The first worker had the upload, and says so still while it has the download.
  const first = record(7, { tokens: 1_000_000n, kbit: 20_000 }, { bytes: 100, tokens: 3n, kbit: 40_000 });
  const second = record(7, { bytes: 2500, tokens: 12n, kbit: 20_000 }, {});
  for (const order of [
    [first, second],
    [second, first],
  ]) {
    const [slot] = slots(...order);
    expect(slot?.upload).toMatchObject({ bytes: 2500, tokens: 12, rate: 20_000_000 });
    expect(slot?.download).toMatchObject({ bytes: 100, tokens: 3, rate: 40_000_000 });
  }
});

it('adds up what passed while the bucket went over, not the bucket', () => {
  const [slot] = slots(
    record(7, { bytes: 1000, tokens: 900n, kbit: 20_000 }, {}),
    record(7, { bytes: 1500, waiting: 300, tokens: 100n, kbit: 20_000 }, {}),
  );
  expect(slot?.upload).toMatchObject({ bytes: 2500, queued: 300, tokens: 100, rate: 20_000_000 });
});
