/** An item as REST and the live feed spell it: property name → text. `.id` names it. */
export type Row = Readonly<Record<string, string>>;

/** The id of a row; settings menus have one row without an id. */
export function rowId(row: Row): string {
  return row['.id'] ?? '';
}

/** Reads rows out of a decoded message, ignoring what is not text. */
export function toRow(value: unknown): Row {
  const row: Record<string, string> = {};
  if (typeof value === 'object' && value !== null) {
    for (const [name, text] of Object.entries(value)) if (typeof text === 'string') row[name] = text;
  }
  return row;
}
