import { type Constant, type Menu, menuByPath, type Prop, propOf } from '@tollway/schema';
import { builtinNames, withBuiltin } from '../snapshot/builtin.js';
import { interfaceName } from '../snapshot/interfaces.js';
import { nameOf, RowsByKey } from '../snapshot/rows-by-key.js';
import { type ConfigSnapshot, type Row, rowsOf } from '../snapshot/snapshot.js';
import { storagesOf, storedRowsOf } from '../snapshot/storage.js';
import { derivedOf } from './derived.js';
import { checkLimit } from './limits.js';
import type { ChecksByMenu } from './menu-checks.js';
import { checkName } from './names.js';
import { type FieldError, fieldError, OtherRows, type ProposedRow } from './proposed-row.js';

/** Content of a row. */
export interface RowContent {
  readonly values: Readonly<Record<string, string>>;
  readonly disabled: boolean;
  readonly comment: string;
}

export type Verified =
  | { readonly ok: true; readonly content: RowContent }
  | { readonly ok: false; readonly errors: readonly [FieldError, ...FieldError[]] };

/** The menu that stores a row, and the rows there. The row may be changed through another menu (`/interface`). */
export interface Storage {
  readonly path: string;
  readonly rows: RowsByKey;
}

/**
 * Checks the body of an `add`: property names, value kinds, required properties, references to other
 * items, and what must hold between properties and rows. Arguments of the command itself
 * (`place-before`, `place-after`, `numbers`, `.id`) are the caller's and must not be in `body`.
 * @param storage rows of the menu in `snapshot`; given by callers that check many bodies
 */
export function verifyAdd(
  checks: ChecksByMenu,
  menu: Menu,
  body: Readonly<Record<string, unknown>>,
  snapshot: ConfigSnapshot,
  storage = storageOf(menu, undefined, snapshot),
): Verified {
  return verify(checks, menu, body, snapshot, storage, undefined);
}

/**
 * Checks the body of a `set` or PATCH on `row` (undefined for settings that were never changed): only the
 * properties that the body names change.
 */
export function verifySet(
  checks: ChecksByMenu,
  menu: Menu,
  row: Row | undefined,
  body: Readonly<Record<string, unknown>>,
  snapshot: ConfigSnapshot,
  storage = storageOf(menu, row, snapshot),
): Verified {
  return verify(checks, menu, body, snapshot, storage, row ?? { id: -1, values: {}, disabled: false, comment: '' });
}

/**
 * Checks a restored row against the present configuration. Conditions on its own properties are not checked, as they held
 * when the row was made.
 */
export function verifyRestored(
  checks: ChecksByMenu,
  menu: Menu,
  row: Row,
  body: Readonly<Record<string, unknown>>,
  snapshot: ConfigSnapshot,
  storage: Storage,
): Verified {
  return verify(checks, menu, body, snapshot, storage, row, { conditions: false });
}

/** Of the menus whose rows `menu` shows, the one that stores `row`, or would store it. */
function storageOf(menu: Menu, row: Row | undefined, snapshot: ConfigSnapshot): Storage {
  const paths = storagesOf(menu.path);
  const stores = (path: string) => rowsOf(snapshot, path).some(({ id }) => id === row?.id);
  const path = (paths.length > 1 ? paths.find(stores) : paths[0]) ?? menu.path;
  return { path, rows: new RowsByKey(rowsOf(snapshot, path)) };
}

function verify(
  checks: ChecksByMenu,
  menu: Menu,
  body: Readonly<Record<string, unknown>>,
  snapshot: ConfigSnapshot,
  { path: storage, rows }: Storage,
  row: Row | undefined,
  { conditions = true }: { readonly conditions?: boolean } = {},
): Verified {
  const errors: FieldError[] = [];
  const content = new Map<string, string>(Object.entries(row?.values ?? {}));
  if (row?.disabled) content.set('disabled', 'true');
  if (row?.comment) content.set('comment', row.comment);
  const given = new Set<string>();

  for (const [key, value] of Object.entries(body)) {
    const change = readChange(menu, key, value);
    if ('detail' in change) errors.push(change);
    else if (key !== change.property && Object.hasOwn(body, change.property)) {
      errors.push(
        fieldError(change.property, `${change.property} is given and taken away at once: give one of the two`),
      );
    } else if (change.value === undefined) content.delete(change.property);
    else {
      // A value equal to the default is not stored again. Properties that can be unset are an exception: without a
      // value they may have a meaning other than their default.
      const prop = propOf(menu, change.property);
      const had = row !== undefined && !content.has(change.property) && prop?.unset !== true;
      if (had && isDefault(prop, change.value)) continue;
      content.set(change.property, change.value);
      given.add(change.property);
    }
  }
  for (const [property, prop] of requiredOf(menu)) {
    const named = Object.hasOwn(body, property) || Object.hasOwn(body, `!${property}`);
    if (!content.has(property) && (row === undefined || named) && !errors.some((e) => e.property === property)) {
      errors.push(fieldError(property, `${property} is required: ${prop.kind.accepts}`));
    }
  }
  if (errors.length === 0) {
    const values = withoutRowFields(content);
    const others = new OtherRows(rows, row?.id);
    const proposed: ProposedRow = { menu, values, given, before: row?.values, others, snapshot };
    if (conditions) errors.push(...checkConditions(proposed));
    errors.push(...checkReferences(proposed, rows));
    const wrongName = checkName(proposed, row?.id) ?? checkLimit(proposed);
    if (wrongName !== undefined) errors.push(wrongName);
    errors.push(...checkMenus(checks, proposed, storage));
  }
  const [first, ...more] = errors;
  if (first) return { ok: false, errors: [first, ...more] };
  return {
    ok: true,
    content: {
      values: withoutDerived(menu, withoutRowFields(content), given),
      disabled: content.get('disabled') === 'true',
      comment: content.get('comment') ?? '',
    },
  };
}

/** Whether a value is the default: clients that send all properties also send those that have their defaults. */
const isDefault = (prop: Prop | undefined, value: string | undefined): boolean =>
  prop?.default !== undefined && prop.default === value;

const requiredProps = new WeakMap<Menu, readonly (readonly [string, Prop])[]>();

/** Required properties of a menu; computed once. */
function requiredOf(menu: Menu): readonly (readonly [string, Prop])[] {
  let required = requiredProps.get(menu);
  if (required === undefined) {
    required = Object.entries(menu.props).filter(([, prop]) => prop.required);
    requiredProps.set(menu, required);
  }
  return required;
}

interface Change {
  readonly property: string;
  /** Canonical text; undefined unsets the property. */
  readonly value: string | undefined;
}

function readChange(menu: Menu, key: string, value: unknown): Change | FieldError {
  const property = key.startsWith('!') ? key.slice(1) : key;
  const constant =
    menu.constants !== undefined && Object.hasOwn(menu.constants, property) ? menu.constants[property] : undefined;
  if (constant !== undefined)
    return key === property ? unchangeable(property, constant, value) : { property, value: undefined };
  const prop = propOf(menu, property);
  if (!prop || prop.readOnly) {
    const text = `unknown parameter ${property}`;
    return fieldError(property, prop ? `${text}: it is read-only` : text);
  }
  if (key !== property) {
    return prop.unset || (prop.default !== undefined && !prop.required)
      ? { property, value: undefined }
      : fieldError(property, `${property} cannot be unset: ${prop.kind.accepts}`);
  }
  const text = requestText(value);
  if (text === undefined)
    return fieldError(property, `value of ${property}: give a text, a number, yes or no, or a list`);
  const parsed = prop.kind.parse(text);
  // An empty list may come from a program that found nothing; without the matcher, the rule would match everything.
  if (Array.isArray(value) && text === '' && !parsed.ok) {
    return fieldError(property, `value of ${property}: an empty list is no value; give "" to leave it out`);
  }
  const empty = parsed.ok ? parsed.value === '' && text.trim() === '' : text === '';
  if (prop.unset && empty) return { property, value: undefined };
  if (!parsed.ok) return fieldError(property, `value of ${property}: ${parsed.error}`);
  // A value with the same meaning as an absent one is stored as absent.
  return {
    property,
    value: prop.unset && parsed.value === prop.kind.valueWhenUnset ? undefined : parsed.value,
  };
}

/** A property with one supported value: that value is accepted and changes nothing, others are refused. */
function unchangeable(property: string, { kind, value: only }: Constant, value: unknown): Change | FieldError {
  const text = requestText(value);
  const parsed = text === undefined ? undefined : kind.parse(text);
  if (parsed?.ok && parsed.value === only) return { property, value: undefined };
  const accepts = only === '' ? 'only an empty text' : `only ${only}`;
  return fieldError(property, `value of ${property}: ${accepts} is accepted, this version has nothing else`);
}

/** Text of a JSON value of a request; lists become comma lists. */
function requestText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  if (!Array.isArray(value)) return undefined;
  const parts = value.map((part: unknown) => (Array.isArray(part) ? undefined : requestText(part)));
  return parts.some((part) => part === undefined) ? undefined : parts.join(',');
}

/** Refuses properties that have no effect with the values of others. */
function checkConditions({ menu, values, given }: ProposedRow): FieldError[] {
  return [...given].flatMap((property) => {
    const prop = menu.props[property];
    const when = prop?.when;
    const other = when && (values[when.prop] ?? menu.props[when.prop]?.default ?? '');
    if (!when || when.values.includes(other ?? '') || isDefault(prop, values[property])) return [];
    return [
      fieldError(property, `value of ${property}: applies only when ${when.prop} is ${when.values.join(' or ')}`),
    ];
  });
}

function checkReferences({ menu, values, given, snapshot }: ProposedRow, siblings: RowsByKey): FieldError[] {
  return [...given].flatMap((property) => {
    const prop = menu.props[property];
    const value = values[property];
    if (!prop || value === undefined) return [];
    const { ref: menus = [], keywords = [], implicit = false, range } = prop.kind;
    const wanted = (implicit ? undefined : prop.kind.references?.(value)) ?? [];
    if (wanted.length === 0) return [];
    // Rows of the same menu may be many and are looked up by an index; those of other menus are few.
    const ownRows = menus.some((ref) => ref.menu === menu.path && ref.prop === 'name');
    const known = menus.flatMap((ref) => (ref.menu === menu.path ? [] : namesOf(ref.menu, ref.prop, snapshot)));
    const wrong = wanted.find(
      (name) => !(keywords.includes(name) || known.includes(name) || (ownRows && isSibling(menu.path, name, siblings))),
    );
    if (wrong === undefined) return [];
    // There may be tens of thousands of names, and as many errors in one request: the accepted names are limited.
    const own = ownRows ? namesOf(menu.path, 'name', snapshot, MAX_NAMES + 1) : [];
    const accepted = [...new Set([...keywords, ...own, ...known])];
    const list = accepted.length > MAX_NAMES ? `${accepted.slice(0, MAX_NAMES).join(', ')}...` : accepted.join(', ');
    const is = range === undefined ? 'none of' : 'neither an address nor one of';
    return [
      fieldError(
        property,
        `input does not match any value of ${property}: ${wrong} is ${is} ${list || '(none exist)'}`,
      ),
    ];
  });
}

/** The checks of the menu that stores the row, and of the menu through which it is changed. */
function checkMenus(checks: ChecksByMenu, proposed: ProposedRow, storage: string): FieldError[] {
  return [...new Set([storage, proposed.menu.path])].flatMap((path) => {
    const menu = path === proposed.menu.path ? proposed.menu : menuByPath(path);
    return (menu && checks.get(path)?.check?.({ ...proposed, menu })) ?? [];
  });
}

const isSibling = (path: string, name: string, siblings: RowsByKey): boolean =>
  siblings.having(nameOf, name).size > 0 || builtinNames(path).includes(name);

/** Maximum number of names that an error lists. */
const MAX_NAMES = 20;

function namesOf(path: string, property: string, snapshot: ConfigSnapshot, most = Number.POSITIVE_INFINITY): string[] {
  const menu = menuByPath(path);
  const names: string[] = [];
  const rows = storedRowsOf(snapshot, path);
  const isInterface = menu?.interfaceType !== undefined && property === 'name';
  for (const row of menu ? withBuiltin(menu, rows) : []) {
    if (names.length >= most) return names;
    const name = isInterface ? interfaceName(row) : row.values[property];
    if (name !== undefined) names.push(name);
  }
  return names;
}

function withoutRowFields(content: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...content].filter(([property]) => property !== 'disabled' && property !== 'comment'));
}

/** Values without the derived ones, which are not stored, so that they follow later changes of other properties. */
function withoutDerived(
  menu: Menu,
  values: Record<string, string>,
  given: ReadonlySet<string>,
): Record<string, string> {
  const follows = derivedOf(menu).filter(([property, { from, value }]) => {
    const stale = !given.has(property) && from.some((other) => given.has(other));
    return stale || values[property] === value(values);
  });
  if (follows.length === 0) return values;
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => !follows.some(([property]) => property === name)),
  );
}
