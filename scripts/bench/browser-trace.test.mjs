// @ts-check
import { describe, expect, it } from 'vitest';
import { mainThread, quantile } from './browser-trace.mjs';

const url = 'http://127.0.0.1:8080/';
const metadata = [
  {
    name: 'TracingStartedInBrowser',
    ph: 'I',
    pid: 1,
    tid: 1,
    ts: 0,
    args: {
      data: {
        frames: [
          { url: 'chrome://newtab/', processId: 6 },
          { url: `${url}dashboard`, processId: 7 },
        ],
      },
    },
  },
  { name: 'thread_name', ph: 'M', pid: 6, tid: 6, ts: 0, args: { name: 'CrRendererMain' } },
  { name: 'thread_name', ph: 'M', pid: 7, tid: 7, ts: 0, args: { name: 'CrRendererMain' } },
  { name: 'thread_name', ph: 'M', pid: 7, tid: 8, ts: 0, args: { name: 'Compositor' } },
];

/**
 * A complete event of the page's main thread, times in ms.
 * @param {string} name @param {number} at @param {number} wall @param {number} thread
 */
const event = (name, at, wall, thread) => ({
  ...{ name, ph: 'X', pid: 7, tid: 7 },
  ...{ ts: at * 1000, dur: wall * 1000, tdur: thread * 1000 },
});

describe('the main thread of a trace', () => {
  it('adds up script, style and layout up to each commit, once where they are nested, without painting', () => {
    const { frames, tasks } = mainThread(
      [
        ...metadata,
        event('RunTask', 0, 30, 9),
        event('FunctionCall', 0, 20, 5),
        event('Layout', 5, 10, 3),
        event('UpdateLayoutTree', 20, 2, 1),
        event('Paint', 22, 8, 3),
        event('Commit', 30, 4, 1),
        event('TimerFire', 40, 3, 2),
        event('Commit', 50, 1, 1),
        event('FunctionCall', 60, 90, 90),
      ],
      url,
    );
    expect(frames).toEqual([
      { wallMs: 22, threadMs: 6 },
      { wallMs: 3, threadMs: 2 },
    ]);
    expect(tasks).toEqual([{ wallMs: 30, threadMs: 9 }]);
  });

  it('looks at no other thread and no other page', () => {
    const elsewhere = [
      { ...event('FunctionCall', 0, 20, 20), pid: 6, tid: 6 },
      { ...event('FunctionCall', 0, 20, 20), tid: 8 },
    ];
    const { frames } = mainThread([...metadata, ...elsewhere, event('Commit', 30, 1, 1)], url);
    expect(frames).toEqual([{ wallMs: 0, threadMs: 0 }]);
  });

  it('says so when the page is not in it', () => {
    expect(() => mainThread(metadata, 'http://elsewhere/')).toThrow('no page at http://elsewhere/');
  });
});

describe('quantile', () => {
  it('is a value that was measured', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([0.5, 0.95, 1].map((share) => quantile(values, share))).toEqual([50, 95, 100]);
    expect(quantile([7], 0.95)).toBe(7);
    expect(quantile([], 0.95)).toBe(0);
  });
});
