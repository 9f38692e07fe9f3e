import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MemoryBuffer, merged } from '../../src/logging/memory-buffer.js';

/** Adds messages, and tells their texts as they are held. */
class Filled {
  readonly buffer: MemoryBuffer;
  #nextId = 1;

  constructor(lines = 1_000, stopOnFull = false) {
    this.buffer = new MemoryBuffer('memory', { lines, stopOnFull });
  }

  add(text: string, timeMs = 1_800_000_000_000): void {
    this.buffer.add(this.#nextId++, { timeMs, topics: 'system,info', text });
  }

  get texts(): string[] {
    return this.buffer.messages().map(({ text }) => text);
  }
}

it('messages of the data plane that are known late stand where they were written', () => {
  const log = new Filled();
  const at = 1_800_000_000_000;
  log.add('started', at);
  log.add('connected', at + 900);
  log.add('ether1 link up', at + 300);
  log.add('ether2 link up', at + 300);
  log.add('ether1 link down', at - 100);
  expect(log.texts).toEqual(['ether1 link down', 'started', 'ether1 link up', 'ether2 link up', 'connected']);
});

it('a clock that is set back leaves the order in which things happened', () => {
  const log = new Filled();
  log.add('before', 1_800_000_000_000);
  log.add('after', 1_800_000_000_000 - 3_600_000);
  expect(log.texts).toEqual(['before', 'after']);
});

it('holds the newest messages, or, when it is to stop on full, the oldest', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 5_000 }), (lines, count) => {
      const all = Array.from({ length: count }, (_, index) => `m${index}`);
      const [newest, oldest] = [new Filled(lines), new Filled(lines, true)];
      for (const text of all) {
        newest.add(text);
        oldest.add(text);
      }
      expect(newest.texts).toEqual(all.slice(-lines));
      expect(oldest.texts).toEqual(all.slice(0, lines));
    }),
  );
});

it('gives up the oldest when it may hold fewer, and all when it is cleared', () => {
  const log = new Filled(5);
  for (const text of ['a', 'b', 'c', 'd']) log.add(text);
  log.buffer.settings = { lines: 2, stopOnFull: false };
  expect(log.texts).toEqual(['c', 'd']);
  log.buffer.clear();
  expect(log.texts).toEqual([]);
  log.add('e');
  expect(log.texts).toEqual(['e']);
});

it('long messages take no more memory than the buffer may', () => {
  const log = new Filled(1_000);
  for (let n = 0; n < 1_000; n += 1) log.add(`${n} ${'x'.repeat(2_000)}`);
  expect(log.texts.length).toBeLessThan(300);
  expect(log.texts.at(-1)).toMatch(/^999 /);
});

it('messages of several buffers stand in the order in which they were written', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 5_000 })), { maxLength: 40 }), (written) => {
      const all = new MemoryBuffer('all', { lines: 100, stopOnFull: false });
      const parts = ['a', 'b'].map((name) => new MemoryBuffer(name, { lines: 100, stopOnFull: false }));
      for (const [index, [isFirst, timeMs]] of written.entries()) {
        const message = { timeMs, topics: 'system,info', text: `m${index}` };
        all.add(index, message);
        parts[isFirst ? 0 : 1]?.add(index, message);
      }
      const together = parts.map((part) => part.messages()).reduce(merged, []);
      expect(together.map(({ text }) => text)).toEqual(all.messages().map(({ text }) => text));
      for (const { id, buffer } of together) expect(buffer.name).toBe(written[id]?.[0] ? 'a' : 'b');
    }),
  );
});
