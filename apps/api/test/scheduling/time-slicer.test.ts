import { describe, expect, it } from 'vitest';
import { Cancelled, requestTurn, startSlicer, TimeSlicer } from '../../src/scheduling/time-slicer.js';

const NEVER = new AbortController().signal;

describe('time slicer', () => {
  it('of one owner continue in the order in which they paused, those of owners by turns', async () => {
    const order: string[] = [];
    const evaluate = async (name: string, owner: number | undefined, pauses: number) => {
      const slicer = new TimeSlicer(NEVER, owner);
      for (let pause = 1; pause <= pauses; pause += 1) {
        await slicer.pause();
        order.push(`${name}${pause}`);
      }
    };
    await Promise.all([
      evaluate('a', 1, 3),
      evaluate('b', 1, 2),
      evaluate('c', 1, 1),
      evaluate('d', 2, 3),
      evaluate('e', undefined, 1),
    ]);
    expect(order).toEqual(['a1', 'd1', 'e1', 'b1', 'd2', 'c1', 'd3', 'a2', 'b2', 'a3']);
  });

  it('of a user come after requests of his that begin, and keep those of others waiting for one turn only', async () => {
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    await Promise.all([
      ...['a', 'b', 'c'].map((name) => startSlicer(NEVER, 1).then(note(name))),
      requestTurn(NEVER, 1).then(note('request')),
      requestTurn(NEVER, 1).then(note('another')),
      requestTurn(NEVER, 2).then(note('of somebody else')),
    ]);
    expect(order).toEqual(['request', 'of somebody else', 'another', 'a', 'b', 'c']);
    const gone = new AbortController();
    gone.abort();
    await expect(requestTurn(gone.signal, 1)).rejects.toThrow(Cancelled);
  });

  it('continue one per turn of the event loop', async () => {
    let turns = 0;
    let over = false;
    const count = () => {
      turns += 1;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(Array.from({ length: 50 }, (_, owner) => startSlicer(NEVER, owner % 3)));
    over = true;
    expect(turns).toBeGreaterThanOrEqual(49);
  });

  it('of an evaluation for which nobody waits end, and keep no other waiting', async () => {
    const gone = new AbortController();
    const ending = Promise.all([
      expect(startSlicer(gone.signal, 1)).rejects.toThrow(Cancelled),
      expect(startSlicer(gone.signal, 1)).rejects.toThrow(Cancelled),
    ]);
    gone.abort();
    await expect(startSlicer(NEVER, 1)).resolves.toBeInstanceOf(TimeSlicer);
    await ending;
    await expect(startSlicer(gone.signal, 2)).rejects.toThrow(Cancelled);
  });
});
