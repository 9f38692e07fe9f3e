import { existsSync, readFileSync } from 'node:fs';

/** Facts about a property of a menu, as the fact sheet writes them. */
interface PropFacts {
  readonly type?: unknown;
  readonly values?: unknown;
  readonly default?: unknown;
  readonly unset?: unknown;
  readonly not?: unknown;
  readonly ro?: unknown;
  readonly required?: unknown;
  readonly flag?: unknown;
}

interface MenuFacts {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly props: Readonly<Record<string, PropFacts>>;
}

/** Reads the fact sheet; undefined when it is not there. It is YAML with one flow mapping per property and line. */
export function readFacts(file: URL): ReadonlyMap<string, MenuFacts> | undefined {
  if (!existsSync(file)) return undefined;
  const menus = new Map<string, { flags: Record<string, unknown>; props: Record<string, PropFacts> }>();
  let menu: { flags: Record<string, unknown>; props: Record<string, PropFacts> } | undefined;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const path = /^ {2}(\/[a-z0-9/-]+):$/.exec(line)?.[1];
    if (path) {
      menu = { flags: {}, props: {} };
      menus.set(path, menu);
    }
    const flags = /^ {4}flags: (\{.*\})$/.exec(line)?.[1];
    if (menu && flags) menu.flags = mapping(flags);
    const [, name, facts] = /^ {6}([a-z0-9-]+): (\{.*\})$/.exec(line) ?? [];
    if (menu && name && facts) menu.props[name] = mapping(facts);
  }
  return menus;
}

function mapping(text: string): Record<string, unknown> {
  const value = new Flow(text).value();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`no mapping: ${text}`);
  return { ...value };
}

/** Parser of YAML flow collections with plain and single-quoted scalars (YAML 1.2 §7.4). */
class Flow {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    this.#skip();
    const start = this.#text[this.#at];
    if (start === '{') return this.#collection('}', () => [this.#key(), this.value()] as const, Object.fromEntries);
    if (start === '[')
      return this.#collection(
        ']',
        () => this.value(),
        (items) => items,
      );
    return this.#scalar(/[^,\]}]*/y);
  }

  #collection<T>(end: string, item: () => T, done: (items: T[]) => unknown): unknown {
    const items: T[] = [];
    this.#at += 1;
    for (this.#skip(); this.#text[this.#at] !== end; this.#skip()) {
      if (this.#at >= this.#text.length) throw new Error(`unfinished: ${this.#text}`);
      items.push(item());
      this.#skip();
      if (this.#text[this.#at] === ',') this.#at += 1;
    }
    this.#at += 1;
    return done(items);
  }

  #key(): string {
    const key = String(this.#scalar(/[^:]*/y));
    this.#at += 1;
    return key;
  }

  #scalar(plain: RegExp): unknown {
    const quoted = this.#take(/'((?:[^']|'')*)'/y);
    if (quoted !== undefined) return quoted.slice(1, -1).replaceAll("''", "'");
    this.#take(/[&*]id\d+ ?/y);
    const word = (this.#take(plain) ?? '').trim();
    return word === 'true' ? true : word === 'false' ? false : word;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skip(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }
}
