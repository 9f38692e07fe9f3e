import { describe, expect, test } from 'vitest';
import { type Arrival, mostAhead, rateOf } from './capture.ts';

/** Tests of measured rates, on arrivals with known times. */

const LIMIT = 20e6;
const PACKET_BITS = 12_000;

/** Arrivals of 12 s at a steady rate; of packets due during a stall, ms, all arrive at its end. */
function arrivals(rate: number, stalls: readonly (readonly [from: number, to: number])[] = []): Arrival[] {
  const packet = { bytes: PACKET_BITS / 8, source: '', destination: '', sourcePort: 0, destinationPort: 0 };
  return Array.from({ length: Math.floor((rate * 12) / PACKET_BITS) }, (_, index) => {
    const dueMs = (index * PACKET_BITS * 1000) / rate;
    const stall = stalls.find(([from, to]) => dueMs >= from && dueMs < to);
    return { ...packet, timeMs: stall?.[1] ?? dueMs };
  });
}

describe('the rate of a window', () => {
  test.each<[string, [number, number][]]>([
    ['without stalls', []],
    ['that begins in a stall', [[990, 1040]]],
    ['that ends in a stall', [[10_990, 11_040]]],
    ['with a stall inside', [[5000, 5090]]],
  ])('%s is that of the limit, within a packet', (_, stalls) => {
    expect(Math.abs(rateOf(arrivals(LIMIT, stalls), LIMIT, 1000, 10) - LIMIT)).toBeLessThanOrEqual(PACKET_BITS / 10);
  });

  test.each([0.99, 0.999, 1.001, 1.01])('tells %f of the limit from the limit', (share) => {
    const rate = rateOf(arrivals(LIMIT * share), LIMIT, 1000, 10);
    expect(Math.abs(rate - LIMIT * share)).toBeLessThanOrEqual(PACKET_BITS / 5);
  });

  test('is nothing when nothing arrives', () => {
    expect(rateOf([], LIMIT, 1000, 10)).toBe(0);
  });
});

describe('the most by which a stretch is ahead', () => {
  test('is a packet at the limit itself, and what was held back after a stall', () => {
    expect(mostAhead(arrivals(LIMIT), LIMIT)).toBeCloseTo(PACKET_BITS, -1);
    expect(mostAhead(arrivals(LIMIT, [[5000, 5090]]), LIMIT)).toBeGreaterThan(LIMIT * 0.089);
  });

  test('grows with time above the limit', () => {
    expect(mostAhead(arrivals(LIMIT * 1.01), LIMIT)).toBeGreaterThan(LIMIT * 0.11);
  });
});
