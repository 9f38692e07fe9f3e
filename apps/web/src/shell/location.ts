/**
 * Addresses of windows: `/ip/firewall/filter` is a menu, `/ip/firewall/filter/*1A` the dialog of an item,
 * `/ip/firewall/filter/new` the dialog of a new item. Its parameters: `copy=*1A` copies the values of an item,
 * `before=*1B` and `after=*1B` give the position; any other parameter is a value. Pure.
 */

/** The item that an address names. */
export type Item =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'new';
      readonly copy: string | undefined;
      readonly before?: string | undefined;
      readonly after?: string | undefined;
      /** Initial values, by property. */
      readonly values?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'id'; readonly id: string };

/** A parsed address. */
interface WindowAddress {
  /** Address of a tab, in most cases the path of a menu; undefined for an invalid address. */
  readonly path: string | undefined;
  readonly item: Item;
}

/** Parameters in the address of a new item that are no properties. */
const START: ReadonlySet<string> = new Set(['copy', 'before', 'after']);

const NO_ITEM: Item = { kind: 'none' };

/** Parses an address. `isTabAddress` returns whether a path is the address of a tab. */
export function parseAddress(address: string, isTabAddress: (path: string) => boolean): WindowAddress {
  const [pathname = '', search = ''] = address.split('?');
  const path = pathname.replace(/\/+$/, '');
  if (isTabAddress(path)) return { path, item: NO_ITEM };
  const cut = path.lastIndexOf('/');
  const parent = path.slice(0, cut);
  if (cut <= 0 || !isTabAddress(parent)) return { path: undefined, item: NO_ITEM };
  let last: string;
  try {
    last = decodeURIComponent(path.slice(cut + 1));
  } catch {
    return { path: undefined, item: NO_ITEM };
  }
  if (last === 'new') {
    const start = new URLSearchParams(search);
    const copy = start.get('copy') ?? undefined;
    const before = start.get('before') ?? undefined;
    const after = start.get('after') ?? undefined;
    const given = [...start].filter(([name]) => !START.has(name));
    const values = given.length === 0 ? {} : { values: Object.fromEntries(given) };
    return { path: parent, item: { kind: 'new', copy, before, ...(after !== undefined && { after }), ...values } };
  }
  if (last.startsWith('*')) return { path: parent, item: { kind: 'id', id: last } };
  return { path: undefined, item: NO_ITEM };
}

/** Formats an address. */
export function formatAddress(path: string, item: Item = NO_ITEM): string {
  switch (item.kind) {
    case 'none':
      return path;
    case 'new': {
      const start = [
        ...(item.copy === undefined ? [] : [`copy=${item.copy}`]),
        ...(item.before === undefined ? [] : [`before=${item.before}`]),
        ...(item.after === undefined ? [] : [`after=${item.after}`]),
        ...Object.entries(item.values ?? {}).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
      ];
      return `${path}/new${start.length === 0 ? '' : `?${start.join('&')}`}`;
    }
    case 'id':
      return `${path}/${item.id}`;
  }
}
