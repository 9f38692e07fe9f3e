/** An item in the form of REST and the live feed: property name → text. `.id` identifies it. */
export type Row = Readonly<Record<string, string>>;

/** The id of a row; settings menus have one row without an id. */
export function rowId(row: Row): string {
  return row['.id'] ?? '';
}

/** Converts a decoded value to a row; properties that are no texts are omitted. */
export function toRow(value: unknown): Row {
  const row: Record<string, string> = {};
  if (typeof value === 'object' && value !== null) {
    for (const [name, text] of Object.entries(value)) if (typeof text === 'string') row[name] = text;
  }
  return row;
}
