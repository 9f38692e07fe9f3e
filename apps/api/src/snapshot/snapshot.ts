/** The stored configuration of one router as plain data: what verify, query and the compiler read. */

/** A stored row. Settings menus have at most one; its absence means all defaults. */
export interface Row {
  /** Unique over all menus and never reused, u32 below `FIRST_DYNAMIC_ROW` of the data plane; `.id` in REST is `*` and this in upper-case hex. */
  readonly id: number;
  /** Canonical texts by property name; a property that is not set is absent. Without `disabled` and `comment`. */
  readonly values: Readonly<Record<string, string>>;
  readonly disabled: boolean;
  /** Empty when there is none. */
  readonly comment: string;
}

/** Rows of all menus by REST path, in order of evaluation. A menu without rows may be absent. */
export type ConfigSnapshot = ReadonlyMap<string, readonly Row[]>;

/** `.id` of a row: `*1F`. */
export const rowIdText = (id: number): string => `*${id.toString(16).toUpperCase()}`;

/** Row id of an `.id` text; undefined when it is invalid. */
export function parseRowId(text: string): number | undefined {
  if (!/^\*[0-9a-fA-F]{1,8}$/.test(text)) return undefined;
  return Number.parseInt(text.slice(1), 16);
}

/** Rows of a menu. */
export const rowsOf = (snapshot: ConfigSnapshot, menu: string): readonly Row[] => snapshot.get(menu) ?? [];
