import type { ConfigStore } from '../config/store.js';
import type { DatabaseFault } from '../database/fault.js';
import type { DatabaseWatch } from '../database/watch.js';
import { rowIdText, rowsOf } from '../snapshot/snapshot.js';
import type { FolderProblem } from './data-folder.js';

/** Problems that need attention, one sentence each: the dashboard shows them until they are resolved. */
export class Alarms {
  readonly #store: Pick<ConfigStore, 'snapshot' | 'invalid' | 'checks'>;
  readonly #watch: DatabaseWatch | undefined;
  readonly #folderProblem: () => FolderProblem | undefined;
  /** The invalid rows from which the texts in `#rules` were made. */
  #rulesOf: ReadonlyMap<number, string> | undefined;
  #rules: readonly string[] = [];

  constructor(
    store: Pick<ConfigStore, 'snapshot' | 'invalid' | 'checks'>,
    watch: DatabaseWatch | undefined,
    folderProblem: () => FolderProblem | undefined,
  ) {
    this.#store = store;
    this.#watch = watch;
    this.#folderProblem = folderProblem;
  }

  all(): readonly string[] {
    const { fault } = this.#watch ?? {};
    const folderProblem = this.#folderProblem();
    return [
      ...(fault === undefined ? [] : [`${fault.text} ${consequenceOf(fault)} forwarding goes on.`]),
      ...(folderProblem === undefined || fault !== undefined ? [] : [folderProblem.problem]),
      ...this.ineffectiveRules(),
    ];
  }

  /** Invalid rules that should drop packets: it must not go unnoticed that they have no effect. */
  ineffectiveRules(): readonly string[] {
    const { snapshot, invalid, checks } = this.#store;
    if (this.#rulesOf === invalid) return this.#rules;
    this.#rulesOf = invalid;
    this.#rules = [];
    if (invalid.size === 0) return this.#rules;
    this.#rules = [...checks].flatMap(([menu, { droppingActions = [] }]) =>
      (droppingActions.length === 0 ? [] : rowsOf(snapshot, menu)).flatMap(({ id, values, comment }) => {
        const reason = invalid.get(id);
        if (reason === undefined || !droppingActions.includes(values.action ?? 'accept')) return [];
        const note = comment === '' ? '' : `, ${comment}`;
        return [
          `A rule with action ${values.action} cannot work and lets packets pass: ${menu} ${rowIdText(id)} (chain ${values.chain}${note}): ${reason}.`,
        ];
      }),
    );
    return this.#rules;
  }
}

const consequenceOf = ({ kind }: DatabaseFault): string =>
  kind === 'no-room' ? 'Until then changes may be refused;' : 'Until then nothing can be changed;';
