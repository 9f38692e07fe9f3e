import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AgentPeer } from './agent-peer.js';
import { Client } from './live-client.js';
import { PASSWORD } from './router.js';

/** The process as npm start runs it, built. */
const server = fileURLToPath(new URL('../dist/server.js', import.meta.url));

let folder: string;
let child: ChildProcess | undefined;
let output = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollway-server-'));
  output = '';
});
afterEach(async () => {
  // It writes into its folder until its end.
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'close');
    child.kill();
    await ended;
  }
  child = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** Starts it, and gives the port that it listens on. */
async function start(environment: Record<string, string>, input?: string): Promise<number> {
  const port = await freePort();
  child = spawn(process.execPath, [server], {
    env: { PATH: process.env.PATH, TOLLWAY_DATA_DIR: folder, TOLLWAY_LISTEN: `127.0.0.1:${port}`, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  child.stdin?.end(input);
  await expect.poll(() => output.includes('listening') || child?.exitCode !== null, { timeout: 180_000 }).toBe(true);
  return port;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

it('reads the first password from its input, and closes its folder to others', async () => {
  await mkdir(join(folder, 'run'));
  await chmod(join(folder, 'run'), 0o755);
  const port = await start({ TOLLWAY_ADMIN_PASSWORD_STDIN: '1' }, PASSWORD);
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'admin', password: PASSWORD }),
  });
  expect(answer.status).toBe(200);
  expect(await readFile(`/proc/${child?.pid}/environ`, 'latin1')).not.toContain(PASSWORD);
  const files = await readdir(folder, { recursive: true });
  expect(files).toContain('tollway.db');
  for (const file of files) expect((await lstat(join(folder, file))).mode & 0o077, file).toBe(0);
});

it('has the critical messages of the log in its output', async () => {
  const port = await start({ TOLLWAY_ADMIN_PASSWORD: PASSWORD });
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'admin', password: 'not it' }),
  });
  expect(answer.status).toBe(401);
  const line = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d system,error,critical login failure for user admin from 127\.0\.0\.1$/m;
  await expect.poll(() => output, { timeout: 60_000 }).toMatch(line);
});

it('refuses a first password that everybody tries', async () => {
  await start({ TOLLWAY_ADMIN_PASSWORD: 'password1' });
  await expect.poll(() => child?.exitCode, { timeout: 60_000 }).toBe(2);
  expect(output).toMatch(/^TOLLWAY_ADMIN_PASSWORD cannot be used: .*common[^\n]*\n$/);
});

it('has the samples of its graphs again after it was killed', async () => {
  const peer = new AgentPeer(join(folder, 'agent.sock'));
  await peer.start();
  try {
    const environment = { TOLLWAY_ADMIN_PASSWORD: PASSWORD, TOLLWAY_AGENT_SOCKET: join(folder, 'agent.sock') };
    const history = async (port: number) => {
      const client = await Client.open(`http://127.0.0.1:${port}`);
      client.send({ op: 'subscribe', id: 1, topic: 'traffic' });
      const { samples } = await client.next((message) => message.op === 'history');
      client.socket.close();
      return Array.isArray(samples) ? samples.map(({ t }: { t: number }) => t) : [];
    };
    const first = await start(environment);
    await expect.poll(() => history(first), { timeout: 60_000 }).not.toEqual([]);
    const [oldest] = await history(first);
    await expect.poll(() => readdir(folder), { timeout: 120_000 }).toContain('traffic.json');
    const killed = child === undefined ? undefined : once(child, 'close');
    child?.kill('SIGKILL');
    await killed;
    output = '';
    expect((await history(await start(environment)))[0]).toBe(oldest);
  } finally {
    await peer.stop();
  }
});
