import { describe, expect, it } from 'vitest';
import { RequestScheduler } from '../../src/plugins/request-scheduler.js';

/** RequestScheduler on a clock of the test: a request takes 5 ms. */
function scene() {
  let now = 0;
  const soon: (() => void)[] = [];
  const begun: string[] = [];
  const turns = new RequestScheduler<string>(
    () => now,
    (work) => soon.push(work),
  );
  return {
    begun,
    turns,
    begin: (connection: string, number: number) =>
      turns.begin(connection, () => {
        begun.push(`${connection}${number}`);
        now += 5;
      }),
    /** The next turn of the event loop. */
    turn: () => {
      for (const work of soon.splice(0)) work();
      return begun.splice(0);
    },
    idle: () => soon.length === 0,
  };
}

describe('requests', () => {
  it('are begun at once while there is time, then one in a turn, each connection in its turn', () => {
    const { begin, begun, turn, idle } = scene();
    for (let number = 0; number < 5; number += 1) begin('a', number);
    expect(begun.splice(0)).toEqual(['a0', 'a1']);
    begin('b', 0);
    begin('b', 1);
    begin('c', 0);
    expect(begun).toEqual([]);
    expect([turn(), turn(), turn(), turn(), turn(), turn()]).toEqual([['a2'], ['b0'], ['c0'], ['a3'], ['b1'], ['a4']]);
    expect(turn()).toEqual([]);
    expect(idle()).toBe(true);
  });

  it('of a connection keep their order, and one with nothing waiting need not wait for those that have', () => {
    const { begin, begun, turn } = scene();
    for (let number = 0; number < 4; number += 1) begin('a', number);
    expect(begun.splice(0)).toEqual(['a0', 'a1']);
    // The turn has begun with a request of 5 ms: there are 3 left.
    expect(turn()).toEqual(['a2']);
    begin('a', 4);
    begin('b', 0);
    expect(begun.splice(0)).toEqual(['b0']);
    expect([turn(), turn()]).toEqual([['a3'], ['a4']]);
  });

  it('of a connection that is gone are not begun', () => {
    const { begin, begun, turn, turns } = scene();
    for (let number = 0; number < 5; number += 1) begin('a', number);
    begun.splice(0);
    turns.forget('a');
    expect([turn(), turn()]).toEqual([[], []]);
  });
});
