// @ts-check
/** Work of the main thread of a page by a DevTools trace: per frame, and its longest tasks. */

/**
 * An event of the trace event format: `ph` X is a complete event, M metadata; times in microseconds. `dur` is
 * wall time, `tdur` the time that the thread had a core.
 * @typedef {{ name: string, ph: string, pid: number, tid: number, ts: number, dur?: number, tdur?: number,
 *   args?: { name?: string, data?: { frames?: { url?: string, processId?: number }[] } } }} TraceEvent
 */

/** Trace categories that are required for the results. */
export const TRACE_CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'];

/**
 * Events that are script, style or layout; those inside another one are part of it. Painting is left out:
 * it depends on the graphics hardware.
 */
const WORK = new Set([
  'EvaluateScript',
  'EventDispatch',
  'FireAnimationFrame',
  'FireIdleCallback',
  'FunctionCall',
  'Layout',
  'MajorGC',
  'MinorGC',
  'ParseHTML',
  'RunMicrotasks',
  'TimerFire',
  'UpdateLayoutTree',
  'v8.compile',
]);

/**
 * @typedef {{ wallMs: number, threadMs: number }} Span
 * @typedef {{ frames: Span[], tasks: Span[] }} MainThread
 */

/**
 * Main thread of the page at `url`. A frame is what happened from one commit to the compositor to the next, so
 * work that changed nothing on the screen counts with the frame after it.
 * @param {readonly TraceEvent[]} events
 * @param {string} url beginning of the page's address
 * @returns {MainThread}
 */
export function mainThread(events, url) {
  const pid = rendererOf(events, url);
  const thread = events.find(
    (event) =>
      event.ph === 'M' && event.pid === pid && event.name === 'thread_name' && event.args?.name === 'CrRendererMain',
  );
  const own = events.filter((event) => event.ph === 'X' && event.pid === pid && event.tid === thread?.tid);
  own.sort((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
  /** @type {Span[]} */
  const frames = [];
  /** @type {Span[]} */
  const tasks = [];
  let work = { wallMs: 0, threadMs: 0 };
  let workEnds = Number.NEGATIVE_INFINITY;
  for (const event of own) {
    const span = { wallMs: (event.dur ?? 0) / 1000, threadMs: (event.tdur ?? 0) / 1000 };
    if (event.name === 'RunTask') tasks.push(span);
    if (event.name === 'Commit') {
      frames.push(work);
      work = { wallMs: 0, threadMs: 0 };
    }
    if (!WORK.has(event.name) || event.ts < workEnds) continue;
    workEnds = event.ts + (event.dur ?? 0);
    work.wallMs += span.wallMs;
    work.threadMs += span.threadMs;
  }
  return { frames, tasks };
}

/** Process that rendered the page. @param {readonly TraceEvent[]} events @param {string} url */
function rendererOf(events, url) {
  for (const event of events) {
    if (event.name !== 'TracingStartedInBrowser') continue;
    const frame = event.args?.data?.frames?.find((each) => each.url?.startsWith(url));
    if (frame?.processId !== undefined) return frame.processId;
  }
  throw new Error(`the trace has no page at ${url}`);
}

/**
 * The value that `share` of the values do not exceed (nearest rank); 0 without values.
 * @param {readonly number[]} values @param {number} share 0…1
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
