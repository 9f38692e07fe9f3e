import { createHash } from 'node:crypto';
import type { ImportLine as AnsweredLine } from '@tollway/protocol/queue-import';
import { type Menu, menuByPath, quoted } from '@tollway/schema';
import { invalidSimpleQueues } from '../compiler/queues.js';
import { describeChange } from '../config/change-summary.js';
import { circle } from '../config/checks/queues.js';
import { Draft } from '../config/draft.js';
import { withAutoName } from '../config/editor.js';
import type { FieldError } from '../config/proposed-row.js';
import type { ConfigStore } from '../config/store.js';
import { verifyAdd, verifySet } from '../config/verify.js';
import { lintSteps } from '../lint/queues.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import { nameOf } from '../snapshot/rows-by-key.js';
import type { Row } from '../snapshot/snapshot.js';
import { type Column, columnsOf, settingsOf, TitleError } from './columns.js';
import { type CsvLine, csvLines } from './csv.js';

const PATH = '/queue/simple';

/** Result for a line, or for a queue that no line names. */
export interface ImportLine extends AnsweredLine {
  /** Row of the queue; for a new queue, its row in the draft. */
  readonly row: number | undefined;
}

interface ImportOptions {
  /** Whether lines without an existing queue add one. */
  readonly add: boolean;
  /** Whether lines with an existing queue change it. */
  readonly update: boolean;
  /** Whether queues that no line names are removed, except parents of queues that stay. */
  readonly remove: boolean;
}

/** Applies a list of queues to a draft. Wrong lines are reported and change nothing. */
export class QueueImport {
  readonly #menu: Menu;
  readonly #lines: readonly CsvLine[];
  readonly #columns: readonly Column[];
  readonly #options: ImportOptions;
  readonly #problem: ImportLine | undefined;
  /** Lines whose parents form a circle. */
  readonly #circling = new Set<CsvLine>();
  /** Line numbers of the wrong lines, by the name of their queue. */
  readonly #wrong = new Map<string, number>();

  /** Reads a list. */
  static async read(csv: string, options: ImportOptions): Promise<QueueImport> {
    return new QueueImport(await csvLines(csv), options);
  }

  private constructor(lines: readonly CsvLine[], options: ImportOptions) {
    const menu = menuByPath(PATH);
    if (menu === undefined) throw new Error(`there is no menu ${PATH}`);
    this.#menu = menu;
    this.#options = options;
    const [first] = lines;
    try {
      if (first?.problem !== undefined) throw new TitleError(first.problem);
      const { columns, titled } = columnsOf(first?.cells ?? []);
      this.#columns = columns;
      this.#lines = titled ? lines.slice(1) : lines;
      // An empty list is more likely a failed export than a request to remove all queues.
      const removesAll = options.remove && this.#lines.length === 0;
      this.#problem = removesAll
        ? wrong(first?.number ?? 1, '', 'no queue is in the list, so all would go')
        : undefined;
    } catch (error) {
      if (!(error instanceof TitleError)) throw error;
      this.#columns = [];
      this.#lines = [];
      this.#problem = wrong(first?.number ?? 1, '', error.message);
    }
  }

  /** Applies the list to a draft. Returns the result of each line. */
  async apply(draft: Draft): Promise<readonly ImportLine[]> {
    if (this.#problem !== undefined) return [this.#problem];
    this.#wrong.clear();
    const slicer = new TimeSlicer();
    const named = new Map<number, number>();
    const answers = new Map<CsvLine, ImportLine>();
    await slicer.map(await slicer.finish(this.#parentsFirst()), (line) => {
      const answer = this.#line(draft, line);
      const before = answer.row === undefined ? undefined : named.get(answer.row);
      if (answer.row !== undefined && before === undefined) named.set(answer.row, line.number);
      if (answer.action === 'error') this.#wrong.set(answer.name, line.number);
      const twice = before === undefined ? undefined : `line ${before} names the same queue`;
      answers.set(line, twice === undefined ? answer : wrong(line.number, answer.name, twice));
    });
    const report: ImportLine[] = [];
    const added: number[] = [];
    await slicer.map(this.#lines, (line) => {
      const answer = answers.get(line);
      if (answer === undefined) return;
      report.push(answer);
      if (answer.action === 'add' && answer.row !== undefined) added.push(answer.row);
    });
    // New queues stand at the end, in the order of the list.
    if (added.some((row, at) => row < (added[at - 1] ?? 0))) draft.move(PATH, added);
    return this.#options.remove ? [...report, ...(await this.#removed(draft, named, slicer))] : report;
  }

  /** The lines in their order, except that a parent precedes its children. */
  *#parentsFirst(): Generator<undefined, readonly CsvLine[]> {
    const [name, parent] = ['name', 'parent'].map((title) =>
      this.#columns.findIndex(({ property }) => property === title),
    );
    if (name === undefined || parent === undefined || name < 0 || parent < 0) return this.#lines;
    const byName = new Map<string, CsvLine>();
    for (const line of this.#lines) {
      yield;
      const called = line.cells[name] ?? '';
      if (!byName.has(called)) byName.set(called, line);
    }
    const order = new Set<CsvLine>();
    for (const line of this.#lines) {
      const above = new Set<CsvLine>();
      let next: CsvLine | undefined = line;
      while (next !== undefined && !order.has(next) && !above.has(next)) {
        yield;
        above.add(next);
        next = byName.get(next.cells[parent] || NO_NAME);
      }
      for (; next !== undefined && above.has(next) && !this.#circling.has(next); ) {
        yield;
        this.#circling.add(next);
        next = byName.get(next.cells[parent] || NO_NAME);
      }
      for (const each of [...above].toReversed()) {
        yield;
        order.add(each);
      }
    }
    return [...order];
  }

  #line(draft: Draft, line: CsvLine): ImportLine {
    const { number, cells, problem } = line;
    const row = this.#existing(
      draft,
      settingsOf(this.#columns, cells, () => ''),
    );
    const settings = settingsOf(this.#columns, cells, (property, half) => {
      const value = row?.values[property] ?? this.#menu.props[property]?.default;
      return value?.split('/')[half] ?? '';
    });
    const name = settings.name ?? '';
    const misplaced = problem ?? this.#misplaced(cells);
    if (misplaced !== undefined) return wrong(number, name, misplaced);
    const answer = row === undefined ? this.#added(draft, line, settings) : this.#changed(draft, line, row, settings);
    return answer.row === undefined ? answer : { ...answer, hint: this.#unlimited(draft, cells, answer.row) };
  }

  /** Text about a direction without a limit, when the line limits the other direction only. */
  #unlimited(draft: Draft, cells: readonly string[], id: number): string {
    const given = new Set(
      this.#columns.flatMap(({ property, half }, place) =>
        property === 'max-limit' && half !== undefined && (cells[place] ?? '') !== '' ? [half] : [],
      ),
    );
    const [only] = given;
    if (only === undefined || given.size > 1) return '';
    const halves = this.#menu.props['max-limit']?.kind.pair?.names ?? [];
    const limits = draft.find(PATH, id)?.values['max-limit']?.split('/') ?? [];
    const other = only === 0 ? 1 : 0;
    if (limits[only] === '0' || limits[other] !== '0') return '';
    return `the line gives no ${halves[other]} limit, only one of ${halves[only]}: ${halves[other]} is not limited`;
  }

  /** The queue of a line: by name, or by targets if the line has no name. */
  #existing(draft: Draft, { name, target }: Readonly<Record<string, string>>): Row | undefined {
    if (name !== undefined) return [...draft.byKey(PATH).having(nameOf, name)][0];
    const parsed = this.#menu.props.target?.kind.parse(target ?? '');
    return parsed?.ok ? [...draft.byKey(PATH).having(targetOf, parsed.value)][0] : undefined;
  }

  /** Error for cells without a column, except the empty ones that spreadsheets append to lines. */
  #misplaced(cells: readonly string[]): string | undefined {
    const count = cells.findLastIndex((cell) => cell !== '') + 1;
    if (count > this.#columns.length) return `it has ${count} cells for ${this.#columns.length} columns`;
    const place = this.#columns.findIndex(({ property }, at) => property === '' && (cells[at] ?? '') !== '');
    return place < 0 ? undefined : `column ${place + 1} has no title, and here it holds ${quoted(cells[place] ?? '')}`;
  }

  /**
   * Text of an error in a setting of a line. If the setting is a parent whose own line is wrong, the text says that.
   */
  #wrongSetting(line: CsvLine, name: string, settings: Readonly<Record<string, string>>, error: FieldError): string {
    const { parent = '' } = settings;
    if (error.property !== 'parent') return this.#fieldError(line.cells, error);
    if (this.#circling.has(line)) return this.#fieldError(line.cells, circle(parent, name));
    const wrongParent = this.#wrong.get(parent);
    if (wrongParent === undefined) return this.#fieldError(line.cells, error);
    const detail = `value of parent: ${parent} is in line ${wrongParent}, which is wrong itself`;
    return this.#fieldError(line.cells, { property: 'parent', detail });
  }

  /** Text of an error in a setting, with the column that gives it. */
  #fieldError(cells: readonly string[], { property, detail }: FieldError): string {
    const pair = property === undefined ? undefined : this.#menu.props[property]?.kind.pair;
    for (const [place, column] of this.#columns.entries()) {
      const cell = cells[place] ?? '';
      if (column.property !== property || cell === '') continue;
      if (column.half === undefined || pair === undefined) return `column ${place + 1}: ${detail}`;
      const half = pair.of.parse(cell);
      if (!half.ok) return `column ${place + 1}: value of ${property} (${pair.names[column.half]}): ${half.error}`;
    }
    return detail;
  }

  #added(draft: Draft, line: CsvLine, settings: Readonly<Record<string, string>>): ImportLine {
    const { number } = line;
    const { name = '' } = settings;
    if (!this.#options.add)
      return { line: number, action: 'same', name, text: 'no such queue', hint: '', row: undefined };
    const verified = verifyAdd(draft.checks, this.#menu, settings, draft.snapshot(), draft.storage(PATH));
    if (!verified.ok) {
      return wrong(number, name, this.#wrongSetting(line, name, settings, verified.errors[0]));
    }
    const content = withAutoName(draft, this.#menu, verified.content);
    const row = draft.add(PATH, content);
    return {
      line: number,
      action: 'add',
      name: content.values.name ?? '',
      text: describeChange(this.#menu, undefined, content),
      hint: '',
      row,
    };
  }

  #changed(draft: Draft, line: CsvLine, row: Row, settings: Readonly<Record<string, string>>): ImportLine {
    const { number } = line;
    const { name = '' } = row.values;
    const same = (text: string): ImportLine => ({ line: number, action: 'same', name, text, hint: '', row: row.id });
    if (!this.#options.update) return same('left as it is');
    const verified = verifySet(draft.checks, this.#menu, row, settings, draft.snapshot(), draft.storage(PATH));
    if (!verified.ok) return wrong(number, name, this.#wrongSetting(line, name, settings, verified.errors[0]));
    const text = describeChange(this.#menu, row, verified.content);
    if (text === '') return same('');
    draft.set(PATH, row.id, verified.content);
    return { line: number, action: 'change', name, text, hint: '', row: row.id };
  }

  async #removed(draft: Draft, named: ReadonlyMap<number, number>, slicer: TimeSlicer): Promise<ImportLine[]> {
    const rows = draft.rows(PATH);
    const byName = new Map<string | undefined, Row>();
    await slicer.map(rows, (row) => byName.set(row.values.name, row));
    const stays = new Set<number>();
    await slicer.map(rows, (row) => {
      if (!named.has(row.id)) return;
      for (let next: Row | undefined = row; next && !stays.has(next.id); next = byName.get(next.values.parent)) {
        stays.add(next.id);
      }
    });
    const going = rows.filter(({ id }) => !stays.has(id));
    // Removes from the end, so that fewer elements are moved.
    await slicer.map(going.toReversed(), ({ id }) => draft.remove(PATH, id));
    return slicer.map(going, ({ id, values }) => ({
      line: 0,
      action: 'remove' as const,
      name: values.name ?? '',
      text: `target ${values.target}`,
      hint: '',
      row: id,
    }));
  }
}

/** Name that no line can have. */
const NO_NAME = '\n';

const targetOf = (values: Row['values']): string | undefined => values.target;

/** Maximum number of characters of a name in the report of a wrong line. */
const NAME_LENGTH = 64;

const wrong = (line: number, name: string, text: string): ImportLine => ({
  line,
  action: 'error',
  name: name.slice(0, NAME_LENGTH),
  text,
  hint: '',
  row: undefined,
});

/** Digest of the effect of an import: its lines without their hints. */
export async function importDigest(lines: readonly ImportLine[]): Promise<string> {
  const hash = createHash('sha256');
  await new TimeSlicer().map(lines, ({ line, action, name, text }) => {
    hash.update(`${JSON.stringify([line, action, name, text])}\n`);
  });
  return hash.digest('hex');
}

/** Result that an import would have, with the findings about the resulting queues as hints. */
export async function dryRun(
  store: Pick<ConfigStore, 'snapshot' | 'checks'>,
  queues: QueueImport,
): Promise<readonly ImportLine[]> {
  let id = 0x7000_0000;
  const nextId = () => {
    id += 1;
    return id;
  };
  const draft = new Draft(store.snapshot, nextId, store.checks);
  const lines = await queues.apply(draft);
  if (lines.every(({ row }) => row === undefined)) return lines;
  const snapshot = draft.snapshot();
  const hints = new Map<number, string[]>();
  const slicer = new TimeSlicer();
  const invalid = await invalidSimpleQueues(snapshot, slicer);
  for (const { row, message } of await slicer.finish(lintSteps(snapshot, invalid))) {
    const known = hints.get(row);
    if (known === undefined) hints.set(row, [message]);
    else known.push(message);
  }
  return slicer.map(lines, (line) =>
    line.row === undefined || line.action === 'remove'
      ? line
      : { ...line, hint: [line.hint, ...(hints.get(line.row) ?? [])].filter((hint) => hint !== '').join('; ') },
  );
}
