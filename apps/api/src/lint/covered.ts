import { ipv4, ipv6Prefix, parseQueueTarget } from '@tollway/schema';

/** A node of a binary trie over the bits of addresses. */
interface Node {
  /** Every address below is in. */
  full: boolean;
  zero: Node | undefined;
  one: Node | undefined;
}

const empty = (): Node => ({ full: false, zero: undefined, one: undefined });

/** A set of networks, which knows of a network whether all of its addresses are in. */
class Networks {
  readonly #root = empty();

  /** @param bits leading bits of the network, most significant first. */
  add(bits: readonly boolean[]): void {
    const path: Node[] = [this.#root];
    let node = this.#root;
    for (const bit of bits) {
      if (node.full) return;
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

  covers(bits: readonly boolean[]): boolean {
    let node: Node | undefined = this.#root;
    for (const bit of bits) {
      if (node.full) return true;
      node = bit ? node.one : node.zero;
      if (node === undefined) return false;
    }
    return node.full;
  }
}

/** Targets of queues: networks of both families, and interfaces. */
export class Targets {
  readonly #v4 = new Networks();
  readonly #v6 = new Networks();
  readonly #interfaces = new Set<string>();

  add(text: string): void {
    const target = parseQueueTarget(text);
    if (target === undefined) return;
    if ('interface' in target) this.#interfaces.add(target.interface);
    else this.#networks(target.address).add(bitsOf(target.address, target.length));
  }

  /** Whether whatever has the target `text` is in. */
  covers(text: string): boolean {
    const target = parseQueueTarget(text);
    if (target === undefined) return false;
    if (!('interface' in target)) return this.#networks(target.address).covers(bitsOf(target.address, target.length));
    // What is behind an interface has an address, which is all that is known of it.
    return this.#interfaces.has(target.interface) || (this.#v4.covers([]) && this.#v6.covers([]));
  }

  #networks(address: string): Networks {
    return address.includes(':') ? this.#v6 : this.#v4;
  }
}

function bitsOf(address: string, length: number): boolean[] {
  const v6 = address.includes(':');
  const value = v6 ? (ipv6Prefix(address)?.address ?? 0n) : BigInt(ipv4(address) ?? 0);
  const text = value.toString(2).padStart(v6 ? 128 : 32, '0');
  return Array.from(text.slice(0, length), (bit) => bit === '1');
}
