import { editValue, type Menu, menuByPath, type Prop, propOf } from '@tollway/schema';
import { type Row, rowIdText } from '../snapshot/snapshot.js';
import { type RowChange, type RowContent, withoutRenumbered } from './draft.js';
import { storedProps } from './items.js';

/** Descriptions of changes for log, audit and history. Their length is limited; secrets are left out. */

/** Maximum number of items of a change that are described individually. */
const MAX_ITEMS = 5;
/** Maximum number of properties of an item that are described. */
const MAX_PROPERTIES = 12;
/** Maximum number of characters of a value or a name, and of the whole description. */
const MAX_OF_VALUE = 60;
const MAX_OF_ALL = 1_000;

/** The text on one line, truncated to `most` characters. */
function bounded(text: string, most: number): string {
  const printable = text.slice(0, most + 1).replace(/\p{C}/gu, '?');
  return printable.length > most ? `${printable.slice(0, most - 1)}…` : printable;
}

const quoted = (text: string): string => `"${bounded(text, MAX_OF_VALUE)}"`;

/** Label of an item: its name or key, its comment and its `.id`. */
function itemLabel(menu: Menu, { id, values, comment }: Omit<Row, 'disabled'>): string {
  const { chain } = values;
  const key = (menu.key ?? []).flatMap((name) => values[name] ?? menu.props[name]?.default ?? []);
  const rule = chain === undefined ? '' : `${chain} ${values.action ?? menu.props.action?.default ?? ''}`;
  const what = bounded(values.name ?? (key.join(' ') || rule), MAX_OF_VALUE);
  return [what, comment === '' ? '' : quoted(comment), `(${rowIdText(id)})`].filter((part) => part !== '').join(' ');
}

function valueText(prop: Prop | undefined, value: string | undefined): string {
  const known = value ?? prop?.default;
  if (known === undefined) return 'none';
  if (prop?.kind.filterType === 'flag') return prop.kind.display?.(known) ?? known;
  const text = prop === undefined ? known : editValue(prop.kind, known);
  return text === '' || /[\s,;→]/.test(text) ? quoted(text) : bounded(text, MAX_OF_VALUE);
}

/** Properties of an item, including `disabled` and `comment`. */
const propertiesOf = (row: RowContent | undefined): Readonly<Record<string, string>> =>
  row === undefined
    ? {}
    : {
        ...row.values,
        ...(row.disabled && { disabled: 'true' }),
        ...(row.comment !== '' && { comment: row.comment }),
      };

function listed(parts: readonly string[]): string {
  const more = parts.length - MAX_PROPERTIES;
  return [...parts.slice(0, MAX_PROPERTIES), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Changed properties of an item: `max-limit 10M/10M → 20M/20M`. */
export function differences(menu: Menu, before: Row | undefined, after: Row | undefined): string {
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  const stored = { props: storedProps(menu) };
  const names = Object.keys({ ...old, ...now }).filter(
    (name) => old[name] !== now[name] && !propOf(stored, name)?.readOnly,
  );
  const parts = names.map((name) => {
    const prop = propOf(stored, name);
    if (prop?.secret) return `${name} ${before === undefined ? 'given' : 'changed'}`;
    if (before === undefined) return `${name} ${valueText(prop, now[name])}`;
    if (after === undefined) return `${name} ${valueText(prop, old[name])}`;
    return `${name} ${valueText(prop, old[name])} → ${valueText(prop, now[name])}`;
  });
  return listed(parts);
}

/**
 * The changed properties of a row, in full and without its name; empty when none changed. Without `before` the row is
 * new.
 */
export function describeChange(menu: Menu, before: RowContent | undefined, after: RowContent): string {
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  const parts = Object.entries(storedProps(menu)).flatMap(([property, { kind, default: initial }]) => {
    const text = (value: string | undefined) => (value === undefined ? undefined : editValue(kind, value));
    const [was, is] = [text(old[property]), text(now[property])];
    if (property === 'name' || was === is) return [];
    if (was === undefined) return [`${property} ${is}`];
    return [`${property} ${was} → ${is ?? (initial ? text(initial) : 'none')}`];
  });
  return parts.join(', ');
}

/** Text of one changed item. Properties that its label contains are not repeated. */
function itemText(menu: Menu, { before, after }: RowChange): string {
  const row = before ?? after;
  if (row === undefined) return '';
  const label = itemLabel(menu, row);
  if (before === undefined || after === undefined) {
    const shown = new Set(['name', 'chain', ...(row.values.chain === undefined ? (menu.key ?? []) : ['action'])]);
    const rest = Object.fromEntries(Object.entries(row.values).filter(([name]) => !shown.has(name)));
    const bare: Row = { ...row, values: rest, comment: '' };
    const more = before === undefined ? differences(menu, undefined, bare) : differences(menu, bare, undefined);
    return more === '' ? label : `${label}: ${more}`;
  }
  const changed = differences(menu, before, after);
  return changed === '' ? label : `${label}: ${changed}`;
}

/**
 * A command and its changes of items: `set /queue/simple lan (*18): max-limit 10M/10M → 20M/20M`. Rows that changed because
 * of their references are counted.
 * @param place the new position of an item in words; row numbers would differ from those in windows, which count dynamic rows
 * too
 */
export function describeChanges(
  command: string,
  menu: Menu,
  ids: readonly number[],
  changes: readonly RowChange[],
  place?: (id: number) => string,
): string {
  const byId = new Map(changes.map((change) => [change.id, change]));
  const touched = ids.filter((id) => byId.has(id));
  const items = touched.slice(0, MAX_ITEMS).map((id) => {
    const change = byId.get(id);
    if (change === undefined) return '';
    const own = menuByPath(change.menu) ?? menu;
    const row = change.after ?? change.before;
    return place === undefined || row === undefined ? itemText(own, change) : `${itemLabel(own, row)} ${place(id)}`;
  });
  const more = touched.length - items.length;
  const others = withoutRenumbered(changes).length - new Set(touched).size;
  const parts = [
    ...items,
    ...(more > 0 ? [`${more} more`] : []),
    ...(others > 0 ? [`${others} that refer to ${touched.length === 1 ? 'it' : 'them'}`] : []),
  ];
  return bounded(`${command} ${menu.path} ${parts.join('; ')}`.trimEnd(), MAX_OF_ALL);
}

/** A change of a settings menu. */
export function describeSettings(menu: Menu, changes: readonly RowChange[]): string {
  const [change] = changes;
  const changed = change === undefined ? '' : differences(menu, change.before ?? NOTHING, change.after ?? NOTHING);
  return bounded(`set ${menu.path}${changed === '' ? '' : `: ${changed}`}`, MAX_OF_ALL);
}

const NOTHING: Row = { id: 0, values: {}, disabled: false, comment: '' };
