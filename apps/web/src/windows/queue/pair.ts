/** Pairs of numbers as queues spell them, `upload/download`. Pure. */

/** Both halves of a pair; a single number stands for both, and what is missing or no number is 0. */
export function halves(pair: string | undefined): readonly [number, number] {
  const [up = '', down = up] = (pair ?? '').split('/');
  return [Number(up) || 0, Number(down) || 0];
}

/** Rate by limit of the direction that is nearer to its limit; 0 without limits. */
export function queueLoad(rate: string | undefined, limit: string | undefined): number {
  const rates = halves(rate);
  const limits = halves(limit);
  return Math.max(0, ...([0, 1] as const).map((which) => (limits[which] > 0 ? rates[which] / limits[which] : 0)));
}
