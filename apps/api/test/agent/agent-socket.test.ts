import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentSocket } from '../../src/agent/socket.js';
import { AgentPeer } from '../agent-peer.js';

let directory: string;
let peer: AgentPeer;
let agent: AgentSocket;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollway-agent-'));
  const path = join(directory, 'agent.sock');
  peer = new AgentPeer(path);
  await peer.start();
  agent = new AgentSocket(path, { warn: () => undefined });
  await new Promise((up) => {
    agent.onUp(up);
    agent.open();
  });
});
afterEach(async () => {
  agent.close();
  await peer.stop();
  await rm(directory, { recursive: true });
});

describe('a request to the agent', () => {
  it('has its time from when the one before it was answered: busy is not silent', async () => {
    let downs = 0;
    agent.onDown(() => downs++);
    peer.delayMs = 100;
    // The last is answered after 1 s and may take 0.5 s.
    const answers = Array.from({ length: 10 }, () => agent.request({ op: 'stats' }, 500));
    await expect(Promise.all(answers)).resolves.toHaveLength(10);
    expect(downs).toBe(0);
  });

  it('that is not answered ends the connection, and with it all requests behind it', async () => {
    peer.mute = ['stats'];
    const silent = agent.request({ op: 'stats' }, 200);
    const behind = agent.request({ op: 'stats' });
    await expect(silent).rejects.toThrow('did not answer "stats" within 0.2 s');
    await expect(behind).rejects.toThrow();
    peer.mute = [];
    await new Promise((up) => agent.onUp(up));
    await expect(agent.request({ op: 'stats' })).resolves.toBeDefined();
  });
});
