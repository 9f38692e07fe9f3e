import type { MultipathHash } from '@tollway/dataplane-agent';
import { durationMs } from '@tollway/schema';
import { rowsOf } from '../snapshot/snapshot.js';
import { type CompileContext, effective } from './context.js';

/** Values in force of a settings menu. */
export class Settings {
  readonly #menu: string;
  readonly #context: CompileContext;

  constructor(context: CompileContext, menu: string) {
    this.#context = context;
    this.#menu = menu;
  }

  word(property: string): string {
    const value = effective(this.#menu, rowsOf(this.#context.snapshot, this.#menu)[0], property);
    // Every setting has a default in the schema; the registry test checks this.
    if (value === undefined) throw new Error(`${this.#menu} ${property} has neither value nor default`);
    return value;
  }

  yes(property: string): boolean {
    return this.word(property) === 'true';
  }

  integer(property: string): number {
    return Number(this.word(property));
  }

  ms(property: string): number {
    return durationMs(this.word(property)) ?? 0;
  }
}

/** What a flow is where a route has several gateways; the data plane leaves the default out, too. */
export function multipathHash(settings: Settings, property: string): { 'multipath-hash'?: MultipathHash } {
  const policy = settings.word(property);
  return policy === 'l4' || policy === 'l3-inner' ? { 'multipath-hash': policy } : {};
}
