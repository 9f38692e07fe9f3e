// @ts-check
/** The browser case: the dashboard and six windows of a busy router, open for minutes in Chromium. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from '@playwright/test';
import { IPERF_PORT, SERVER_ADDRESS } from '../lab/topology.mjs';
import { enterNetns } from '../netns.mjs';
import { until } from '../process.mjs';
import { inProject } from '../project.mjs';
import { Daemon } from './background.mjs';
import { Desktop } from './browser-desktop.mjs';
import { held } from './browser-heap.mjs';
import { mainThread, quantile, TRACE_CATEGORIES } from './browser-trace.mjs';
import { percent } from './samples.mjs';
import { measureShare } from './thread-time.mjs';

/** Target values of the results. */
const TARGET = { frameMs: 8, taskMs: 50, heapGrowth: 1.02, serverShare: 0.1 };
/** Number of heap measurements, evenly distributed over the time. */
const HEAP_MEASUREMENTS = 5;
/**
 * Index of the measurement with which the last one is compared: minute 6 of 10, when the five minutes of data that
 * graphs hold are complete.
 */
const FULL_MEASUREMENT = 2;
const PASSWORD = 'browser-bench';
const CHROMIUM = process.env.TOLLWAY_CHROMIUM ?? '/usr/bin/chromium';
/** TCP rate through the router, bit/s; the queue of the sender limits it to half. */
const OFFERED = '40M';
const CONNECTIONS_PER_SECOND = 200;

/**
 * @typedef {{ minutes: number, note: (line: string) => void }} Context
 * @typedef {import('./report.mjs').Result} Result
 * @typedef {import('./browser-heap.mjs').Held & { nodes: number, listeners: number }} Memory
 * @typedef {import('./browser-trace.mjs').Span} Span
 */

/**
 * @param {Context} context
 * @returns {Promise<Result[]>}
 */
export async function runBrowserCase({ minutes, note }) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'tollway-bench-'));
  const listen = `127.0.0.1:${await freePort()}`;
  const url = `http://${listen}`;
  process.env.TOLLWAY_ADMIN_PASSWORD = PASSWORD;
  const appliance = new Daemon([
    process.execPath,
    inProject('scripts', 'start.mjs'),
    ...['--data-dir', dataDir, '--listen', listen],
  ]);
  /** @type {Daemon[]} */
  const load = [];
  try {
    const pids = await appliancePids(appliance, dataDir, url);
    await addQueue(url);
    load.push(...startLoad(dataDir));
    note('  settling, then a minute of the server without viewers');
    await sleep(15_000);
    const server = [
      { pid: pids.api, counts: () => true },
      { pid: pids.agent, counts: (/** @type {string} */ thread) => !thread.startsWith('worker-') },
    ];
    const alone = measureShare(server);
    await sleep(60_000 * Math.min(1, minutes / 2));
    const unwatched = alone();
    return await watch({ url, minutes, note, server, unwatched });
  } finally {
    await Promise.all(load.map((each) => each.stop()));
    await appliance.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Opens the windows and keeps them open. From time to time drags them and scrolls in them.
 * @param {Context & { url: string, server: Parameters<typeof measureShare>[0], unwatched: number }} context
 * @returns {Promise<Result[]>}
 */
async function watch({ url, minutes, note, server, unwatched }) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const desktop = new Desktop(page);
    await desktop.logIn(url, PASSWORD);
    await desktop.openWindows();
    note(`  ${desktop.titles.join(', ')} are open for ${minutes} minutes`);
    const started = performance.now();
    const served = measureShare(server);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');

    /** @type {{ still: Span[], moving: Span[], tasks: Span[] }} */
    const spans = { still: [], moving: [], tasks: [] };
    /** @type {Memory[]} */
    const memories = [];
    const elapsed = () => (performance.now() - started) / 60_000 / minutes;
    while (elapsed() < 1) {
      if (elapsed() * HEAP_MEASUREMENTS >= memories.length + 1) memories.push(await memory(session));
      const still = await traced(browser, page, url, () => sleep(5000));
      const moving = await traced(browser, page, url, () => desktop.exercise());
      spans.still = spans.still.concat(still.frames);
      spans.moving = spans.moving.concat(moving.frames);
      spans.tasks = spans.tasks.concat(moving.tasks);
      await sleep(Math.min(15_000, Math.max(0, started + minutes * 60_000 - performance.now())));
    }
    memories.push(await memory(session));
    return figures({ spans, memories, share: served(), unwatched });
  } finally {
    await browser.close();
  }
}

/**
 * @param {import('@playwright/test').Browser} browser
 * @param {import('@playwright/test').Page} page
 * @param {string} url
 * @param {() => Promise<unknown>} action
 */
async function traced(browser, page, url, action) {
  await browser.startTracing(page, { categories: TRACE_CATEGORIES });
  await action();
  const trace = await browser.stopTracing();
  return mainThread(JSON.parse(trace.toString()).traceEvents, url);
}

/** Memory of the page after garbage collection. @param {import('@playwright/test').CDPSession} session @returns {Promise<Memory>} */
async function memory(session) {
  for (let pass = 0; pass < 3; pass += 1) await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const metric = (/** @type {string} */ name) => metrics.find((each) => each.name === name)?.value ?? 0;
  return { ...held(await snapshot(session)), nodes: metric('Nodes'), listeners: metric('JSEventListeners') };
}

/** A heap snapshot. @param {import('@playwright/test').CDPSession} session */
async function snapshot(session) {
  /** @type {string[]} */
  const chunks = [];
  const collect = (/** @type {{ chunk: string }} */ { chunk }) => chunks.push(chunk);
  session.on('HeapProfiler.addHeapSnapshotChunk', collect);
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  session.off('HeapProfiler.addHeapSnapshotChunk', collect);
  return JSON.parse(chunks.join(''));
}

/**
 * @param {{ spans: { still: Span[], moving: Span[], tasks: Span[] }, memories: Memory[], share: number, unwatched: number }} measured
 * @returns {Result[]}
 */
function figures({ spans, memories, share, unwatched }) {
  const quantiles = (/** @type {Span[]} */ frames, /** @type {keyof Span} */ clock) =>
    [0.5, 0.95, 1]
      .map((share) =>
        quantile(
          frames.map((frame) => frame[clock]),
          share,
        ).toFixed(1),
      )
      .join(' / ');
  const describe = (/** @type {string} */ when, /** @type {Span[]} */ frames) =>
    `${when}, ${frames.length} frames, ms of script + style + layout, p50 / p95 / most: ` +
    `${quantiles(frames, 'threadMs')} of the thread's time, ${quantiles(frames, 'wallMs')} by the clock`;
  const long = (/** @type {keyof Span} */ clock) => spans.tasks.filter((task) => task[clock] > TARGET.taskMs).length;
  const longest = (/** @type {keyof Span} */ clock) =>
    spans.tasks.reduce((most, task) => Math.max(most, task[clock]), 0);
  const mib = (/** @type {number} */ bytes) => `${(bytes / 2 ** 20).toFixed(2)} MiB`;
  const describeHeld = (/** @type {Memory} */ each) =>
    `${mib(each.values)} of values; ${mib(each.code)} of code, ${mib(each.native)} of the browser's own; ` +
    `${each.nodes} nodes, ${each.listeners} listeners`;
  const growth = (memories.at(-1)?.values ?? 0) / (memories[FULL_MEASUREMENT]?.values ?? 0);
  return [
    result(
      'browser/frame',
      'ms',
      quantile(
        spans.moving.map((frame) => frame.threadMs),
        0.95,
      ),
      TARGET.frameMs,
      [
        describe('while windows move and tables scroll', spans.moving),
        describe('while nobody touches them', spans.still),
      ],
    ),
    result('browser/longest-task', 'ms', longest('threadMs'), TARGET.taskMs, [
      `tasks over ${TARGET.taskMs} ms: ${long('threadMs')} by the thread's time, ${long('wallMs')} by the clock (longest ${longest('wallMs').toFixed(0)} ms), of ${spans.tasks.length}`,
    ]),
    result('browser/heap', 'end / full', growth, TARGET.heapGrowth, [
      'heap snapshots after garbage collection, evenly over the time; the third counts, by then the graphs are full:',
      ...memories.map(describeHeld),
    ]),
    result('browser/server', 'cores', share - unwatched, TARGET.serverShare, [
      `API and the agent's control threads: ${percent(share)} of a core with viewers, ${percent(unwatched)} without`,
    ]),
  ];
}

/** @param {string} name @param {string} unit @param {number} ours @param {number} target @param {string[]} details */
function result(name, unit, ours, target, details) {
  return { name, unit, ours, baseline: target, ratio: target / ours, io: 'chromium', details };
}

/**
 * Waits until the appliance forwards.
 * @param {Daemon} appliance @param {string} dataDir @param {string} url
 */
async function appliancePids(appliance, dataDir, url) {
  const healthy = async () => {
    if (appliance.lastOutput !== undefined) throw new Error(`npm start: ${appliance.lastOutput}`);
    return fetch(`${url}/healthz`).then(
      (response) => response.status === 200,
      () => false,
    );
  };
  if (!(await until(healthy, 60_000, 200))) throw new Error('npm start does not come up');
  const pid = (/** @type {string} */ name) => Number(readFileSync(path.join(dataDir, 'run', `${name}.pid`), 'utf8'));
  return { api: pid('api'), agent: pid('agent') };
}

/** Adds a queue that the load saturates. @param {string} url */
async function addQueue(url) {
  const response = await fetch(`${url}/rest/queue/simple`, {
    method: 'PUT',
    headers: {
      authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'bench', target: '192.168.88.10', 'max-limit': '20M/20M' }),
  });
  if (!response.ok) throw new Error(`PUT /rest/queue/simple: ${await response.text()}`);
}

/** Starts traffic in addition to that of the lab. @param {string} dataDir */
function startLoad(dataDir) {
  /** @type {import('../start/registry.mjs').Instance} */
  const instance = JSON.parse(readFileSync(path.join(dataDir, 'run', 'instance.json'), 'utf8'));
  const netns = instance.lab?.hosts.find((host) => host.name === 'lan')?.netns;
  if (netns === undefined) throw new Error('the lab has no host lan');
  const iperf = [
    'iperf3',
    '--client',
    SERVER_ADDRESS,
    '--port',
    String(IPERF_PORT),
    '--time',
    '0',
    '--bitrate',
    OFFERED,
  ];
  const flows = [inProject('scripts', 'bench', 'browser-load.mjs'), SERVER_ADDRESS, String(CONNECTIONS_PER_SECOND)];
  return [new Daemon(enterNetns(netns, iperf)), new Daemon(enterNetns(netns, [process.execPath, ...flows]))];
}

/** @returns {Promise<number>} a TCP port that is free on loopback */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
