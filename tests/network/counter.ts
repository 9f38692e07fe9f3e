import type { Host } from './netns.ts';

export interface Count {
  readonly packets: number;
  readonly bytes: number;
}

let tables = 0;

/**
 * Counts packets where they leave or enter a host's stack, before any socket's buffer; bytes with the IP header.
 * `match` is an expression of nft(8).
 */
export function countPackets(host: Host, hook: 'output' | 'prerouting', ...match: string[]): () => Count {
  const table = `count${++tables}`;
  // Before fragments are put together (nf_ip_hook_priorities of Linux).
  const chain = `{ type filter hook ${hook} priority -450; }`;
  host.must('nft', 'add', 'table', 'inet', table);
  host.must('nft', 'add', 'chain', 'inet', table, 'packets', chain);
  host.must('nft', 'add', 'rule', 'inet', table, 'packets', ...match, 'counter');
  return () => {
    const listed = host.must('nft', 'list', 'chain', 'inet', table, 'packets');
    const found = /counter packets (\d+) bytes (\d+)/.exec(listed);
    return { packets: Number(found?.[1]), bytes: Number(found?.[2]) };
  };
}
