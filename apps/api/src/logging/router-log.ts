import { identityOf } from '../snapshot/identity.js';
import type { ConfigSnapshot } from '../snapshot/snapshot.js';
import { DiskLog, logFolder } from './disk.js';
import { Echo } from './echo.js';
import { type HeldMessage, MemoryBuffer, merged } from './memory-buffer.js';
import { type Destination, type LogMessage, printable, type Report } from './message.js';
import { remoteLog } from './remote.js';
import { LogRules } from './rules.js';
import { LOGGING, LOGGING_ACTION, type LogAction, logActions, logRuleOf, logRuleRows } from './settings.js';

/** Maximum length of a message, characters. */
const MAX_MESSAGE = 2_048;

/** An action and the destination of its messages. */
interface Action {
  name: string;
  /** Settings from which the destination was created, as a text to compare. */
  readonly made: string;
  readonly memory: MemoryBuffer | undefined;
  readonly destination: Destination | undefined;
}

export interface LogOptions {
  readonly dataDir: string;
  /** Destination of actions with target `echo`. */
  readonly echo: (text: string) => void;
  /**
   * First id of a message. It must be above the ids of earlier processes, so that an open page does not mix up
   * messages.
   */
  readonly firstId: number;
}

/** Menus whose changes the log follows: rules, actions, and the name of the router, which is sent to servers. */
const FOLLOWED: readonly string[] = [LOGGING, LOGGING_ACTION, '/system/identity'];

/** The log of the router: each message is sent to the actions of the rules that it matches. */
export class RouterLog {
  readonly #options: LogOptions;
  readonly #actions = new Map<number, Action>();
  #rules = new LogRules([], () => undefined);
  #hostname = '';
  #nextId: number;
  /** Destinations that are being closed. */
  #closing: Promise<unknown> = Promise.resolve();
  #shown: readonly HeldMessage[] | undefined;

  constructor(options: LogOptions, snapshot: ConfigSnapshot) {
    this.#options = options;
    this.#nextId = options.firstId;
    this.#configure(snapshot);
  }

  /** Applies a changed configuration. Messages in memory are kept while their action exists. */
  follow(changes: readonly { readonly menu: string }[], snapshot: ConfigSnapshot): void {
    if (changes.some(({ menu }) => FOLLOWED.includes(menu))) this.#configure(snapshot);
  }

  /** @param topics comma list, e.g. `system,info` */
  add(topics: string, text: string, timeMs = Date.now()): void {
    const line = printable(text.slice(0, MAX_MESSAGE)).slice(0, MAX_MESSAGE);
    for (const { prefix, action } of this.#rules.matching(topics, line)) {
      const to = this.#actions.get(action);
      if (to === undefined) continue;
      const message: LogMessage = { timeMs, topics, text: prefix === '' ? line : `${printable(prefix)}: ${line}` };
      to.destination?.write(message);
      if (to.memory === undefined) continue;
      to.memory.add(this.#nextId, message);
      this.#nextId += 1;
      this.#shown = undefined;
    }
  }

  /** Messages in memory, oldest first. */
  messages(): readonly HeldMessage[] {
    this.#shown ??= [...this.#actions.values()]
      .flatMap(({ memory }) => (memory === undefined ? [] : [memory.messages()]))
      .reduce(merged, []);
    return this.#shown;
  }

  /** Deletes the messages of an action. Returns whether its target is memory. */
  clear(id: number): boolean {
    const memory = this.#actions.get(id)?.memory;
    memory?.clear();
    this.#shown = undefined;
    return memory !== undefined;
  }

  /** Resolves when messages to files and servers are written, or have failed. */
  async close(): Promise<void> {
    for (const action of this.#actions.values()) this.#close(action);
    await this.#closing;
  }

  #configure(snapshot: ConfigSnapshot): void {
    this.#hostname = identityOf(snapshot);
    const actions = logActions(snapshot);
    const before = new Map(this.#actions);
    this.#actions.clear();
    const kept = new Set<number>();
    for (const { id, name, target } of actions) {
      const known = before.get(id);
      if (known === undefined || known.made !== JSON.stringify(target)) continue;
      known.name = name;
      if (known.memory !== undefined) known.memory.name = name;
      kept.add(id);
    }
    // A destination that is being closed may still use the files of a new one.
    for (const [id, action] of before) if (!kept.has(id)) this.#close(action);
    for (const action of actions) {
      const known = before.get(action.id);
      this.#actions.set(action.id, known !== undefined && kept.has(action.id) ? known : this.#open(action, known));
    }
    const ids = new Map(actions.map(({ id, name }) => [name, id]));
    const rules = logRuleRows(snapshot).filter(({ disabled }) => !disabled);
    this.#rules = new LogRules(rules.map(logRuleOf), (name) => ids.get(name));
    this.#shown = undefined;
  }

  #close({ destination }: Action): void {
    if (destination !== undefined) this.#closing = Promise.all([this.#closing, destination.close()]);
  }

  #open({ id, name, target }: LogAction, before: Action | undefined): Action {
    const report: Report = (severity, text) =>
      this.add(`system,${severity}`, `log action ${this.#actions.get(id)?.name ?? name}: ${text}`);
    const made = { name, made: JSON.stringify(target), memory: undefined };
    switch (target.kind) {
      case 'memory': {
        const memory = before?.memory ?? new MemoryBuffer(name, target.settings);
        memory.name = name;
        memory.settings = target.settings;
        return { ...made, memory, destination: undefined };
      }
      case 'disk': {
        const folder = logFolder(this.#options.dataDir);
        return { ...made, destination: new DiskLog(folder, target.settings, report, this.#closing) };
      }
      case 'remote':
        return { ...made, destination: remoteLog(target.settings, () => this.#hostname, report) };
      case 'echo':
        return { ...made, destination: new Echo(this.#options.echo) };
      case 'none':
        return { ...made, destination: undefined };
    }
  }
}
