import { menuByPath } from '@tollway/schema';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CellQuota } from '../../src/live/cell-quota.js';
import { MenuFeed, type MessageSink } from '../../src/live/menu-feed.js';
import type { RowQuery } from '../../src/live/row-query.js';
import { ArrayRows } from '../../src/view/rows.js';

const QUERY = { filter: [], columns: undefined, find: '', sort: undefined, first: 0, count: 10 };

class Recorder implements MessageSink {
  ready = true;
  readonly messages: Record<string, unknown>[] = [];

  send(message: object): void {
    this.messages.push({ ...message });
  }
}

function feedOf(path: string, sink: MessageSink, rows: () => Record<string, string>[]) {
  const menu = menuByPath(path);
  if (menu === undefined) throw new Error('no menu');
  const reads: number[] = [];
  const view = async (maxAgeMs = 0) => {
    reads.push(maxAgeMs);
    return new ArrayRows(rows());
  };
  return { feed: new MenuFeed(1, menu, view, QUERY, 1000, sink, new CellQuota().reserve(1)), reads };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(async () => {
  // Feeds stand in one line for their turns; none that a test has left may hold up the next test's.
  if (vi.isFakeTimers()) await vi.runOnlyPendingTimersAsync();
  vi.useRealTimers();
});

describe('a feed', () => {
  it('sends a change of live values once per interval', async () => {
    const sink = new Recorder();
    let bytes = 0;
    const { feed } = feedOf('/interface', sink, () => [{ '.id': '*1', 'rx-byte': String(++bytes) }]);
    await vi.advanceTimersByTimeAsync(3_500);
    expect(sink.messages.map((message) => message.op)).toEqual(['snapshot', 'delta', 'delta', 'delta']);
    expect(sink.messages[1]).toEqual({
      id: 1,
      op: 'delta',
      total: 1,
      matched: 1,
      set: [{ '.id': '*1', 'rx-byte': '2' }],
      remove: [],
    });
    feed.close();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(sink.messages).toHaveLength(4);
  });

  it('decodes nothing that it may not show', async () => {
    const menu = menuByPath('/queue/simple');
    if (menu === undefined) throw new Error('no menu');
    const sink = new Recorder();
    const cells = new CellQuota();
    expect(cells.reserve(1).resize(1_499_990)).toBeUndefined();
    let decoded = 0;
    const set = {
      length: 1_000,
      id: String,
      value: () => undefined,
      row: (index: number) => {
        decoded += 1;
        return { '.id': `*${index}` };
      },
    };
    const feed = new MenuFeed(1, menu, async () => set, QUERY, 1000, sink, cells.reserve(1));
    await vi.advanceTimersByTimeAsync(2_500);
    expect(sink.messages).toEqual([
      {
        op: 'error',
        id: 1,
        detail: 'at most 1500000 cells, rows by columns, are shown to one user at once; close other windows',
      },
    ]);
    expect(decoded).toBe(0);
    feed.close();
  });

  it('shows what it might not as soon as others are closed, also where nothing changes', async () => {
    const menu = menuByPath('/ip/address');
    if (menu === undefined) throw new Error('no menu');
    const sink = new Recorder();
    const cells = new CellQuota();
    const other = cells.reserve(1);
    other.resize(1_499_999);
    const view = async () => new ArrayRows([{ '.id': '*1' }]);
    const feed = new MenuFeed(1, menu, view, QUERY, 1000, sink, cells.reserve(1));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(sink.messages).toMatchObject([{ op: 'error' }]);
    other.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sink.messages.slice(1)).toMatchObject([{ op: 'snapshot', total: 1 }]);
    feed.close();
  });

  it('sends no snapshot to a client that has not read what it was sent before', async () => {
    const sink = new Recorder();
    const { feed } = feedOf('/ip/address', sink, () => [{ '.id': '*1' }]);
    await vi.advanceTimersByTimeAsync(100);
    sink.ready = false;
    for (let first = 0; first < 100; first += 1) {
      feed.setQuery({ first });
      await vi.advanceTimersByTimeAsync(50);
    }
    expect(sink.messages).toHaveLength(1);
    sink.ready = true;
    await vi.advanceTimersByTimeAsync(500);
    expect(sink.messages.slice(1)).toMatchObject([{ op: 'snapshot', first: 99 }]);
    feed.close();
  });

  it('that is closed while its client does not read reads nothing any more, and takes no room of other subscriptions', async () => {
    const menu = menuByPath('/interface');
    if (menu === undefined) throw new Error('no menu');
    const sink = new Recorder();
    sink.ready = false;
    const cells = new CellQuota();
    let reads = 0;
    const view = async () => {
      reads += 1;
      return new ArrayRows([{ '.id': '*1' }]);
    };
    const feed = new MenuFeed(1, menu, view, QUERY, 1000, sink, cells.reserve(1));
    await vi.advanceTimersByTimeAsync(50);
    feed.close();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(cells.reserve(1).resize(1_500_000)).toBeUndefined();
    expect([reads, sink.messages]).toEqual([0, []]);
  });

  it('that is closed says nothing of a reading that has failed since', async () => {
    const menu = menuByPath('/interface');
    if (menu === undefined) throw new Error('no menu');
    const sink = new Recorder();
    const failing = () => new Promise<never>((_, reject) => setTimeout(() => reject(new Error('no agent')), 100));
    const feed = new MenuFeed(1, menu, failing, QUERY, 1000, sink, new CellQuota().reserve(1));
    await vi.advanceTimersByTimeAsync(50);
    feed.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sink.messages).toEqual([]);
  });

  it('is silent while nothing changes', async () => {
    const sink = new Recorder();
    const { feed } = feedOf('/interface', sink, () => [{ '.id': '*1' }]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sink.messages).toHaveLength(1);
    feed.close();
  });

  it('skips ticks of a client that does not keep up, without reading, and catches up with one delta', async () => {
    const sink = new Recorder();
    let bytes = 0;
    const { feed, reads } = feedOf('/interface', sink, () => [{ '.id': '*1', 'rx-byte': String(++bytes) }]);
    await vi.advanceTimersByTimeAsync(10);
    sink.ready = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sink.messages).toHaveLength(1);
    expect(reads).toHaveLength(1);
    sink.ready = true;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sink.messages).toHaveLength(2);
    feed.close();
  });

  it('of configuration alone never reads by itself, and reads afresh when it changed', async () => {
    const sink = new Recorder();
    const { feed, reads } = feedOf('/ip/address', sink, () => [{ '.id': '*1' }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reads).toHaveLength(1);
    feed.refresh();
    await vi.advanceTimersByTimeAsync(1);
    expect(reads).toEqual([500, 0]);
    feed.close();
  });
});

describe('feeds that open at once', () => {
  it('are evaluated one in a turn of the event loop, so that requests come in between', async () => {
    vi.useRealTimers();
    const turns = new Map<number, number>();
    let turn = 0;
    let watching = true;
    const look = () => {
      turn += 1;
      if (watching) setImmediate(look);
    };
    const sink: MessageSink = { ready: true, send: () => turns.set(turn, (turns.get(turn) ?? 0) + 1) };
    // Viewers share readings, so all of them get theirs in the same turn.
    const reading = new Promise((resolve) => setTimeout(resolve, 20));
    const menu = menuByPath('/interface');
    if (menu === undefined) throw new Error('no menu');
    const view = async () => {
      await reading;
      return new ArrayRows([{ '.id': '*1' }]);
    };
    setImmediate(look);
    const feeds = Array.from(
      { length: 50 },
      (_, id) => new MenuFeed(id, menu, view, QUERY, 60_000, sink, new CellQuota().reserve(1)),
    );
    const sent = () => [...turns.values()].reduce((sum, count) => sum + count, 0);
    await vi.waitFor(() => expect(sent()).toBe(feeds.length), { timeout: 60_000 });
    watching = false;
    for (const feed of feeds) feed.close();
    expect(Math.max(...turns.values())).toBe(1);
  });
});

describe('feeds that scan a large table', () => {
  it.each<[string, Partial<RowQuery>]>([
    ['sort', { sort: { by: 'timeout', desc: false } }],
    ['filter', { filter: [{ column: 'list', op: 'is', value: 'a' }] }],
    ['find a text', { find: 'a' }],
  ])(
    'and %s are evaluated as far as there is memory for it, one after the other',
    async (_what, asked) => {
      vi.useRealTimers();
      const menu = menuByPath('/ip/firewall/address-list');
      if (menu === undefined) throw new Error('no menu');
      let under = 0;
      let most = 0;
      const view = async () => {
        let begun = false;
        const begin = () => {
          if (!begun) under += 1;
          begun = true;
          most = Math.max(most, under);
        };
        return {
          length: 1_000_000,
          id: String,
          value() {
            begin();
            return undefined;
          },
          row() {
            begin();
            return {};
          },
          sortNumbers() {
            begin();
            return (index: number) => index;
          },
        };
      };
      const cells = new CellQuota();
      const sink = {
        ready: true,
        sent: 0,
        send() {
          under -= 1;
          this.sent += 1;
        },
      };
      const query = { ...QUERY, ...asked };
      const feeds = Array.from(
        { length: 4 },
        (_, id) => new MenuFeed(id, menu, view, query, 60_000, sink, cells.reserve(1)),
      );
      await vi.waitFor(() => expect(sink.sent).toBe(feeds.length), { timeout: 180_000, interval: 20 });
      for (const feed of feeds) feed.close();
      expect(most).toBe(1);
    },
    120_000,
  );
});

describe('the cost of a feed', () => {
  it('of a query that changes during an update is a shared reading, unless the configuration changed as well', async () => {
    const sink = new Recorder();
    const { feed, reads } = feedOf('/interface', sink, () => [{ '.id': '*1' }]);
    feed.setQuery({ first: 1 });
    feed.setQuery({ first: 2 });
    await vi.advanceTimersByTimeAsync(10);
    expect(reads).toEqual([500, 500]);
    feed.setQuery({ first: 3 });
    feed.setQuery({ first: 0 });
    feed.refresh();
    await vi.advanceTimersByTimeAsync(10);
    expect(reads).toEqual([500, 500, 500, 0]);
    feed.close();
  });

  it('holds the readings too: one that takes long is taken less often', async () => {
    const sink = new Recorder();
    const menu = menuByPath('/interface');
    if (menu === undefined) throw new Error('no menu');
    let reads = 0;
    const view = async () => {
      reads += 1;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return new ArrayRows([{ '.id': '*1', 'rx-byte': String(reads) }]);
    };
    const feed = new MenuFeed(1, menu, view, QUERY, 1000, sink, new CellQuota().reserve(1));
    await vi.advanceTimersByTimeAsync(9_000);
    // 300 ms are at most 8 % of the time.
    expect(reads).toBe(3);
    feed.close();
  });
});
