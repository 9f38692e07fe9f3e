import { type Menu, menuByPath, propOf, quoted } from '@tollway/schema';

/** Target of a cell: a property, or one half of a pair. */
export interface Column {
  /** Empty for a column without a title: its cells must be empty. */
  readonly property: string;
  readonly half: 0 | 1 | undefined;
}

/** Default columns of a list without a line of titles. */
const USUAL: readonly Column[] = [
  { property: 'name', half: undefined },
  { property: 'target', half: undefined },
  { property: 'max-limit', half: 0 },
  { property: 'max-limit', half: 1 },
  { property: 'burst-limit', half: 0 },
  { property: 'burst-limit', half: 1 },
  { property: 'burst-threshold', half: undefined },
  { property: 'burst-time', half: undefined },
];

/** Synonyms of properties in titles. */
const TITLES: Readonly<Record<string, string>> = {
  subscriber: 'name',
  customer: 'name',
  login: 'name',
  address: 'target',
  ip: 'target',
  'ip-address': 'target',
  rate: 'max-limit',
  limit: 'max-limit',
  burst: 'burst-limit',
  guaranteed: 'limit-at',
  type: 'queue',
  'queue-type': 'queue',
  'packet-mark': 'packet-marks',
  note: 'comment',
};

const HALVES: Readonly<Record<string, 0 | 1>> = { up: 0, upload: 0, down: 1, download: 1 };

/** Error in the titles; the message is for people. */
export class TitleError extends Error {}

/**
 * Columns of a list by its first line. Titles such as `max-limit`, `upload`, `Burst Limit Download` and `down_burst`
 * are recognised; a first line without any known title is data.
 * @throws TitleError naming an unknown title, or two columns of the same property.
 */
export function columnsOf(first: readonly string[]): { readonly columns: readonly Column[]; readonly titled: boolean } {
  const menu = menuByPath('/queue/simple');
  if (menu === undefined) throw new Error('there is no menu /queue/simple');
  const read = first.map((title) => columnOf(menu, title));
  const [name, target] = ['name', 'target'].map((property) => read.some((column) => column?.property === property));
  if (!name && !target) {
    if (first.length > USUAL.length) {
      const usual = 'name, target, upload, download, burst upload, burst download, burst-threshold, burst-time';
      throw new TitleError(
        `it has ${first.length} cells, and without a line of titles there are ${USUAL.length} columns: ${usual}; ` +
          'a line of titles has at least name or target',
      );
    }
    return { columns: USUAL, titled: false };
  }
  const columns = read.map((column, place) => {
    if (column !== undefined) return column;
    const title = first[place] ?? '';
    if (title === '') return { property: '', half: undefined };
    throw new TitleError(`column ${place + 1}: ${quoted(title)} is no setting of a queue; there are ${settings(menu)}`);
  });
  const seen = new Map<string, number>();
  for (const [place, { property, half }] of columns.entries()) {
    if (property === '') continue;
    for (const part of half === undefined ? [`${property}.0`, `${property}.1`] : [`${property}.${half}`]) {
      const before = seen.get(part);
      if (before !== undefined) throw new TitleError(`columns ${before} and ${place + 1} both give ${property}`);
      seen.set(part, place + 1);
    }
  }
  return { columns, titled: true };
}

/** Accepted titles of columns, without synonyms. */
const settings = (menu: Menu): string =>
  Object.entries(menu.props)
    .flatMap(([name, { readOnly, kind }]) =>
      readOnly ? [] : kind.pair === undefined ? [name] : [`${name} (upload, download)`],
    )
    .join(', ');

function columnOf(menu: Menu, title: string): Column | undefined {
  const words = title
    .trim()
    .toLowerCase()
    .split(/[\s._/-]+/)
    .filter((word) => word !== '');
  const at = words.findIndex((word) => Object.hasOwn(HALVES, word));
  // `up/down` and `upload/download` name both halves.
  const halves = words.filter((word) => Object.hasOwn(HALVES, word));
  const rest = words.filter((word) => !Object.hasOwn(HALVES, word)).join('-');
  const property = Object.hasOwn(TITLES, rest) ? TITLES[rest] : rest === '' && at >= 0 ? 'max-limit' : rest;
  const prop = property === undefined ? undefined : propOf(menu, property);
  if (property === undefined || prop === undefined || prop.readOnly) return undefined;
  if (halves.length === 1 && prop.kind.pair === undefined) return undefined;
  return { property, half: halves.length === 1 ? HALVES[halves[0] ?? ''] : undefined };
}

/** Targets of a cell, with any usual separator. */
const targetsOf = (cell: string): string =>
  cell
    .split(/[\s|,]+/)
    .filter((target) => target !== '')
    .join(',');

/**
 * Settings that the cells of a line give. Empty cells give none. If only one half of a pair is given, the other half is
 * `left`.
 */
export function settingsOf(
  columns: readonly Column[],
  cells: readonly string[],
  left: (property: string, half: 0 | 1) => string,
): Record<string, string> {
  const settings: Record<string, string> = {};
  const halves = new Map<string, [string, string]>();
  for (const [place, { property, half }] of columns.entries()) {
    const cell = cells[place] ?? '';
    if (cell === '' || property === '') continue;
    if (half === undefined) settings[property] = property === 'target' ? targetsOf(cell) : cell;
    else {
      const pair = halves.get(property) ?? [left(property, 0), left(property, 1)];
      pair[half] = cell;
      halves.set(property, pair);
    }
  }
  for (const [property, [upload, download]] of halves) settings[property] = `${upload}/${download}`;
  return settings;
}
