/**
 * Changes by a user in a dialog, and the request that follows from them. Pure. The item may change while the dialog is
 * open: only edited values are kept separately and sent.
 */
import { editValue, type Kind, type Menu, menuByPath, type Prop, quoted, splitNot } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { givenValues } from './item.ts';

/** Edited properties: a text, or null to unset the property. */
export type Edits = Readonly<Record<string, string | null>>;

/** Error messages by property; those about the whole item are under the empty name. */
export type Errors = Readonly<Record<string, string>>;

/** The value of a field: the edited one, or else that of the item, or else the default. */
export function fieldValue(prop: Prop | undefined, name: string, base: Row, edits: Edits): string | undefined {
  const edited = edits[name];
  if (edited === null) return undefined;
  if (edited !== undefined) return edited;
  const value = base[name] ?? (prop?.unset === true ? undefined : (prop?.default ?? followed(prop, base, edits)));
  if (value === undefined || prop === undefined || prop.readOnly === true) return value;
  return editValue(prop.kind, value);
}

/** The value that a box without one of its own has by the other fields: unlike a text, no tick would say `no`. */
function followed(prop: Prop | undefined, base: Row, edits: Edits): string | undefined {
  if (prop?.derived === undefined || prop.kind.editor !== 'check') return undefined;
  const given = Object.entries({ ...base, ...edits }).filter((entry): entry is [string, string] => entry[1] !== null);
  return prop.derived.value(Object.fromEntries(given));
}

/** Edits one property; the original value removes the edit. */
export function edit(menu: Menu, edits: Edits, base: Row, name: string, value: string | undefined): Edits {
  const { [name]: _, ...rest } = edits;
  if (value === fieldValue(menu.props[name], name, base, rest)) return rest;
  return { ...rest, [name]: value ?? null };
}

/** Whether a property is shown in the dialog, given the values of the others. */
function isVisible(menu: Menu, prop: Prop, base: Row, edits: Edits): boolean {
  const { when } = prop;
  if (when === undefined) return true;
  const value = fieldValue(menu.props[when.prop], when.prop, base, edits);
  return value !== undefined && when.values.includes(value);
}

/**
 * Whether a property depends on another one of its tab, as parameters do on an action: its field is always unfolded,
 * and an empty text unsets it.
 */
export const isAlwaysOpen = (menu: Menu, { tab, unset, when }: Prop): boolean =>
  unset === true && when !== undefined && menu.props[when.prop]?.tab === tab;

/** Properties of a dialog without a field: they have buttons instead. */
const BUTTONS = new Set(['disabled', 'comment']);

/** Fields of one tab, in order. */
export function fieldsOf(menu: Menu, tab: string, base: Row, edits: Edits, isNew: boolean): readonly string[] {
  return Object.entries(menu.props)
    .filter(([name, prop]) => {
      if (prop.tab !== tab || BUTTONS.has(name)) return false;
      // The hint is shown above the fields.
      if (name === 'hint') return false;
      if (prop.readOnly === true && (isNew || menu.flags.some((flag) => flag.prop === name))) return false;
      return isVisible(menu, prop, base, edits);
    })
    .map(([name]) => name);
}

/** Tabs with at least one field. */
export function tabsOf(menu: Menu, base: Row, edits: Edits, isNew: boolean): readonly string[] {
  return menu.tabs.filter((tab) => fieldsOf(menu, tab, base, edits, isNew).length > 0);
}

/**
 * Body of the PATCH that stores the edits: changed values, and `!name` for unset ones. Values that do not apply to the
 * chosen action are omitted.
 */
export function changes(menu: Menu, base: Row, edits: Edits): Record<string, string> {
  const body: Record<string, string> = {};
  for (const [name, value] of Object.entries(edits)) {
    const prop = menu.props[name];
    if (prop === undefined || prop.readOnly === true || !isVisible(menu, prop, base, edits)) continue;
    if (value === null || (value === '' && prop.unset === true && prop.kind.parse('').ok === false)) {
      if (base[name] !== undefined) body[`!${name}`] = '';
    } else if (!isSameValue(prop, value, base[name])) body[name] = value;
  }
  return body;
}

/** Whether a typed text has the same value in another spelling, as `20M` and `20000000`. */
function isSameValue(prop: Prop, typed: string, value: string | undefined): boolean {
  if (typed === value) return true;
  const parsed = prop.kind.parse(typed);
  return parsed.ok && parsed.value === value;
}

/**
 * Values of edited properties that other users have changed meanwhile, by property; empty for one that was unset.
 *
 * @param origins values of the edited properties when their editing began
 */
export function conflicts(
  menu: Menu,
  base: Row,
  edits: Edits,
  origins: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(edits)) {
    const prop = menu.props[name];
    const now = base[name];
    if (prop === undefined || !(name in origins) || origins[name] === now) continue;
    if (!isSameValue(prop, value ?? '', now ?? '')) found[name] = now === undefined ? '' : editValue(prop.kind, now);
  }
  return found;
}

/** Text about edits that cannot be stored, as the user has been moved to the group `read`; undefined without edits. */
export function unsavedText(menu: Menu, base: Row, edits: Edits): string | undefined {
  const lost = Object.entries(changes(menu, base, edits)).map(([name, value]) => {
    const label = menu.props[name.replace(/^!/, '')]?.label ?? name;
    return `${label}: ${name.startsWith('!') ? 'unset' : value}`;
  });
  return lost.length === 0 ? undefined : `Not saved, as you may only look now: ${lost.join('; ')}.`;
}

/** Body of the PUT of a new item: the values of visible fields. */
export function additions(menu: Menu, edits: Edits): Record<string, string> {
  const body: Record<string, string> = {};
  for (const [name, value] of Object.entries(edits)) {
    const prop = menu.props[name];
    if (prop === undefined || prop.readOnly === true || value === null) continue;
    if (!isVisible(menu, prop, {}, edits)) continue;
    if (value === '' && prop.required !== true) continue;
    body[name] = value;
  }
  return body;
}

/** Initial edits of a new item. */
export function initialEdits(menu: Menu): Edits {
  return Object.fromEntries(
    Object.entries(menu.props).flatMap(([name, { proposed }]) => (proposed === undefined ? [] : [[name, proposed]])),
  );
}

/** Edits that fill a new item from another one. Names must be unique, so that a suffix is added. */
export function copyOf(menu: Menu, row: Row): Edits {
  const values = valuesOf(menu, row);
  return values.name !== undefined && menu.key?.[0] === 'name' ? { ...values, name: `${values.name}-copy` } : values;
}

/**
 * Edits in the form of an item that its copy begins with. They become part of an address, so that secrets are omitted.
 */
export function copiedEdits(menu: Menu, edits: Edits): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(edits)) {
    if (menu.props[name]?.secret === true) continue;
    values[value === null ? `!${name}` : name] = value ?? '';
  }
  return values;
}

/** A copy, with the values that {@link copiedEdits} returned. */
export function withEdits(copy: Edits, values: Readonly<Record<string, string>>): Edits {
  const gone = new Set(Object.keys(values).flatMap((name) => (name.startsWith('!') ? [name.slice(1)] : [])));
  const given = Object.entries({ ...copy, ...values });
  return Object.fromEntries(given.filter(([name]) => !name.startsWith('!') && !gone.has(name)));
}

/** Edits that fill a new item with the values of a removed one. */
export function valuesOf(menu: Menu, row: Row): Edits {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(givenValues(menu, row))) {
    const kind = menu.props[name]?.kind;
    values[name] = kind === undefined ? value : editValue(kind, value);
  }
  return values;
}

/** Errors of the edited values that the browser can detect, by property. */
export function validate(menu: Menu, body: Readonly<Record<string, string>>, isNew: boolean): Errors {
  const errors: Record<string, string> = {};
  for (const [name, value] of Object.entries(body)) {
    const prop = menu.props[name];
    if (prop === undefined) continue;
    const error = invalidReason(prop, value);
    if (error !== undefined) errors[name] = error;
  }
  if (isNew) {
    for (const [name, prop] of Object.entries(menu.props)) {
      if (prop.required === true && (body[name] ?? '') === '') errors[name] = `Required: ${wanted(prop.kind)}.`;
    }
  }
  return errors;
}

/** Error of one value; undefined when there is none. An empty text is checked only when the form is sent. */
export function valueError(prop: Prop, value: string | undefined): string | undefined {
  if (value === undefined || value === '' || (prop.not === true && splitNot(value).text === '')) return undefined;
  return invalidReason(prop, value);
}

/** The canonical form of a typed value, and its error. */
interface TypedValue {
  readonly value: string;
  readonly error: string | undefined;
}

/** Validates a typed value. Surrounding blanks, e.g. from pasting, are removed if the kind does not accept them. */
export function validateTyped(prop: Prop, value: string): TypedValue {
  const error = valueError(prop, value);
  const bare = value.trim();
  if (error === undefined || bare === value || valueError(prop, bare) !== undefined) return { value, error };
  return { value: bare, error: undefined };
}

/** All edits, with such blanks removed. */
export function trimmedEdits(menu: Menu, edits: Edits): Edits {
  return Object.fromEntries(
    Object.entries(edits).map(([name, value]) => {
      const prop = menu.props[name];
      return [name, value === null || prop === undefined ? value : validateTyped(prop, value).value];
    }),
  );
}

/** Reason why a value is not accepted, as a sentence; undefined when it is. For a pair, about the invalid half. */
function invalidReason({ kind }: Prop, value: string): string | undefined {
  const parsed = kind.parse(value);
  if (parsed.ok) return undefined;
  for (const [at, half] of kind.pair === undefined ? [] : value.split('/').entries()) {
    const label = kind.pair?.labels[at];
    const own = kind.pair?.of.parse(half.trim());
    if (label !== undefined && own?.ok === false) return `${label}: ${sentence(own.error, half.trim())}`;
  }
  return sentence(parsed.error, value);
}

/** Description of the accepted values, with the page's nouns for items of other menus. */
function wanted({ accepts, ref, implicit, range, pair, keywords = [] }: Kind): string {
  // Other kinds accept more than names of items, or only suggest names.
  if (implicit === true || range !== undefined || pair !== undefined) return accepts;
  const names = [...new Set((ref ?? []).map(({ menu }) => menuByPath(menu)?.singular.toLowerCase()))];
  if (names.length === 0 || names.includes(undefined)) return accepts;
  return [...names.map((name) => `the name of ${/^[aeiou]/.test(name ?? '') ? 'an' : 'a'} ${name}`), ...keywords].join(
    ', or ',
  );
}

/**
 * The field that an error of the server belongs to: its property if the dialog has a field for it, or else the dialog.
 */
export function errorPlace(menu: Menu, property: string | undefined): string {
  const name = property?.replace(/^!/, '') ?? '';
  return menu.props[name] !== undefined && !BUTTONS.has(name) ? name : '';
}

/** An error text of REST in the terms of the page: beside its field it need not name the property. */
export function errorText(menu: Menu, property: string | undefined, detail: string): string {
  const name = property?.replace(/^!/, '') ?? '';
  if (errorPlace(menu, property) !== '' && detail.startsWith(`${name} is required when `)) {
    const words = detail.slice(`${name} is required when `.length);
    const [other = ''] = words.split(' ', 1);
    return `Required when ${menu.props[other]?.label ?? other}${words.slice(other.length)}`;
  }
  const about = `value of ${name}: `;
  const starts = ['failure: ', `input does not match any ${about}`, about, `${name}: `];
  const start = starts.find((words) => detail.startsWith(words));
  if (start === undefined || errorPlace(menu, property) === '') return detail;
  const text = detail.slice(start.length);
  // A text that begins with the value itself is left unchanged.
  return start === 'failure: ' || start === `${name}: ` ? sentence(text, '') : text;
}

/** Makes a sentence of an error text. A quoted value at its beginning keeps its case. */
function sentence(text: string, value: string): string {
  if (beginsTyped(text, value)) return text + (text.endsWith('.') ? '' : '.');
  return text.slice(0, 1).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

/** Whether a text begins with the typed value, an element of it, or the part after a `!`. */
function beginsTyped(text: string, value: string): boolean {
  const parts = [value, ...value.split(/[,!]/)].flatMap((part) => [part, part.trim(), ...part.trim().split(/\s+/)]);
  const quotedParts = parts.filter((part) => part !== '').map(quoted);
  return quotedParts.some((part) => text.startsWith(part) && !/^\w/.test(text.slice(part.length)));
}

/** The initial text of a field that is unfolded. */
export function unfoldedValue(prop: Prop): string {
  if (prop.default !== undefined) return prop.default;
  if (prop.kind.editor === 'check') return 'true';
  if (prop.kind.editor === 'select') return prop.kind.values?.[0] ?? '';
  return '';
}
