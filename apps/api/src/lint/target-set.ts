import { ipv4, ipv6Prefix, type QueueTarget } from '@tollway/schema';

/** A node of a binary trie over the bits of addresses. */
interface TrieNode {
  /** True when the set contains every address of the subtree. */
  full: boolean;
  zero: TrieNode | undefined;
  one: TrieNode | undefined;
}

const empty = (): TrieNode => ({ full: false, zero: undefined, one: undefined });

/** A set of networks, with a test whether it contains all addresses of a network. */
class NetworkSet {
  readonly #root = empty();

  add({ words, length }: Bits): void {
    const path: TrieNode[] = [this.#root];
    let node = this.#root;
    for (let at = 0; at < length; at += 1) {
      if (node.full) return;
      const bit = bitAt(words, at);
      const next = (bit ? node.one : node.zero) ?? empty();
      if (bit) node.one = next;
      else node.zero = next;
      node = next;
      path.push(node);
    }
    node.full = true;
    for (let at = path.length - 2; at >= 0; at -= 1) {
      const above = path[at];
      if (above === undefined || !(above.zero?.full && above.one?.full)) return;
      above.full = true;
    }
  }

  covers({ words, length }: Bits): boolean {
    let node: TrieNode | undefined = this.#root;
    for (let at = 0; at < length; at += 1) {
      if (node.full) return true;
      node = bitAt(words, at) ? node.one : node.zero;
      if (node === undefined) return false;
    }
    return node.full;
  }
}

/** Targets of queues: networks of both families, and interfaces. */
export class TargetSet {
  readonly #v4 = new NetworkSet();
  readonly #v6 = new NetworkSet();
  readonly #interfaces = new Set<string>();

  add(target: QueueTarget): void {
    if ('interface' in target) this.#interfaces.add(target.interface);
    else this.#networks(target.address).add(bitsOf(target.address, target.length));
  }

  /** Whether the set contains a target completely. */
  covers(target: QueueTarget): boolean {
    if (!('interface' in target)) return this.#networks(target.address).covers(bitsOf(target.address, target.length));
    // The addresses of the hosts behind an interface are unknown: only the interface or all addresses cover them.
    return this.#interfaces.has(target.interface) || (this.#v4.covers(ALL) && this.#v6.covers(ALL));
  }

  #networks(address: string): NetworkSet {
    return address.includes(':') ? this.#v6 : this.#v4;
  }
}

/** Leading bits of an address. */
interface Bits {
  /** Words of 32 bits, most significant first. */
  readonly words: readonly number[];
  readonly length: number;
}

const ALL: Bits = { words: [], length: 0 };

const bitAt = (words: readonly number[], at: number): boolean =>
  (((words[at >> 5] ?? 0) >>> (31 - (at & 31))) & 1) === 1;

function bitsOf(address: string, length: number): Bits {
  if (!address.includes(':')) return { words: [ipv4(address) ?? 0], length };
  const value = ipv6Prefix(address)?.address ?? 0n;
  return { words: [96n, 64n, 32n, 0n].map((shift) => Number((value >> shift) & 0xffff_ffffn)), length };
}
