/** Columns that a table shows, their order and their widths, by the menu and the layout that a user has chosen. Pure. */
import { type Menu, type MenuColumn, menuColumn, propOf } from '@tollway/schema';

export interface Column {
  /** Name of a property, or of half of a pair; `.flags` and `.nr` for the columns of flags and row numbers. */
  readonly name: string;
  readonly label: string;
  /** The property, or half of a pair, whose values the cells show; undefined for `.flags` and `.nr`. */
  readonly source: MenuColumn | undefined;
  readonly right: boolean;
  /** Width in px; undefined until the content has been measured. */
  readonly width: number | undefined;
  /** Width that the longest text needs, px, if it exceeds `width`; applied as far as the table has free space. */
  readonly contentWidth?: number;
  /** Number of columns to the right of a column that is pinned to the right edge while others scroll. */
  readonly pinIndex?: number;
  /** Shows the tree: indentation, and the button that folds a branch. */
  readonly tree?: true;
}

/** A user's choices for the columns of a menu; absent ones are determined by the menu. */
export interface ColumnLayout {
  readonly columns?: readonly string[];
  /** Columns that the user added: they are shown even if no row has a value for them. */
  readonly kept?: readonly string[];
  readonly widths?: Readonly<Record<string, number>>;
}

/** Minimum width of a column, px. */
export const MIN_WIDTH = 32;
/** Maximum width that a column gets from its measured content while the table has no free space, px. */
export const WIDEST = 354;

/** Whether a column stays in view at the right edge, if it is at the end of the table. */
const isPinned = (menu: Menu, name: string): boolean => propOf(menu, name)?.pinned === true;

/** Whether comments may be shown on a line of their own above the row: in menus that do not need a column for them. */
export function offersCommentLines(menu: Menu): boolean {
  return menu.props.comment !== undefined && !menu.columns.includes('comment');
}

/** Whether comments are shown on a line of their own: only while there is no column for them. */
export function hasCommentLines(menu: Menu, columns: readonly Pick<Column, 'name'>[]): boolean {
  return offersCommentLines(menu) && columns.every(({ name }) => name !== 'comment');
}

/** Names of all possible columns, in the order of the dialog: properties, and halves of pairs. */
export function possibleColumns(menu: Menu): readonly string[] {
  return Object.entries(menu.props)
    .filter(([name, prop]) => {
      return prop.secret !== true && !menu.flags.some((flag) => flag.prop === name);
    })
    .flatMap(([name, { kind }]) => kind.pair?.names.map((half) => `${name}.${half}`) ?? name);
}

/** Columns to show: the remembered ones that still exist, or else those of the menu. */
export function shownColumns(menu: Menu, layout: ColumnLayout): readonly string[] {
  const possible = new Set(possibleColumns(menu));
  const chosen = (layout.columns ?? menu.columns).filter((name) => possible.has(name));
  return chosen.length > 0 ? chosen : menu.columns;
}

/** Measurements of a table's rows, by column. */
export interface ColumnMeasurements {
  /** Columns without a value in any row. */
  readonly empty?: ReadonlySet<string>;
  /** Widths that fit the rows that were shown first, px. */
  readonly fitted?: Readonly<Record<string, number>>;
  /** Widths that fit longer texts of rows shown later, px. */
  readonly grown?: Readonly<Record<string, number>>;
}

/** Columns that take up space: of the columns to show, those with values, and those that the user added. */
export function filledColumns(menu: Menu, layout: ColumnLayout, { empty }: ColumnMeasurements): readonly string[] {
  const shown = shownColumns(menu, layout);
  if (empty === undefined) return shown;
  return shown.filter((name, at) => at === 0 || !empty.has(name) || layout.kept?.includes(name) === true);
}

/** The columns of a table, flags and number first. `tree`: the first column of a property carries the tree. */
export function tableColumns(
  menu: Menu,
  layout: ColumnLayout,
  tree = false,
  measurements: ColumnMeasurements = {},
): readonly Column[] {
  const columns: Column[] = [];
  const special = (name: string, label: string, width: number, right: boolean) => {
    columns.push({ name, label, source: undefined, right, width: layout.widths?.[name] ?? width });
  };
  if (menu.flags.length > 0)
    special('.flags', 'Flags', Math.max(MIN_WIDTH, 14 + 9 * Math.min(menu.flags.length, 6)), false);
  if (menu.kind === 'ordered') special('.nr', '#', 52, true);
  for (const name of filledColumns(menu, layout, measurements)) {
    const source = menuColumn(menu, name);
    if (source === undefined) continue;
    const { label, kind } = source;
    const chosen = layout.widths?.[name];
    const fits = measurements.fitted?.[name];
    const width = fits === undefined ? undefined : Math.min(fits, WIDEST);
    const needs = Math.max(fits ?? 0, measurements.grown?.[name] ?? 0);
    columns.push({
      name,
      label,
      source,
      right: kind.align === 'right',
      width: chosen ?? width,
      ...(chosen === undefined && width !== undefined && needs > width && { contentWidth: needs }),
      ...(tree && !columns.some((column) => column.tree) && { tree }),
    });
  }
  const plain = columns.findLastIndex((column) => !isPinned(menu, column.name)) + 1;
  return columns.map((column, at) => {
    if (at < plain) return column;
    // A pinned column gets its full width at the expense of the columns that scroll.
    const { contentWidth, ...rest } = column;
    const grown = contentWidth === undefined ? rest : { ...rest, width: Math.min(contentWidth, WIDEST) };
    return { ...grown, pinIndex: columns.length - 1 - at };
  });
}

/**
 * Adds a column after the nearest one that precedes it in the dialog, or removes it. A default column of the menu
 * returns to its place among the default columns; comments are inserted before the counters at the end. The last column
 * cannot be removed. A hidden column, for which no row has a value, is shown from now on.
 */
export function toggleColumn(
  menu: Menu,
  layout: ColumnLayout,
  name: string,
  measurements: ColumnMeasurements = {},
): ColumnLayout {
  const shown = shownColumns(menu, layout);
  const seen = filledColumns(menu, layout, measurements);
  const others = (layout.kept ?? []).filter((other) => other !== name);
  if (seen.includes(name)) {
    if (seen.length === 1) return layout;
    return { ...layout, columns: shown.filter((other) => other !== name), kept: others };
  }
  const kept = [...others, name];
  if (shown.includes(name)) return { ...layout, kept };
  if (name === 'comment' && offersCommentLines(menu)) {
    const plain = shown.findLastIndex((other) => !isPinned(menu, other)) + 1;
    return { ...layout, columns: shown.toSpliced(plain, 0, name), kept };
  }
  const order = menu.columns.includes(name) ? menu.columns : possibleColumns(menu);
  const earlier = new Set(order.slice(0, order.indexOf(name)));
  const at = shown.findLastIndex((other) => earlier.has(other)) + 1;
  return { ...layout, columns: shown.toSpliced(at, 0, name), kept };
}

/** Moves a column before another one; to the end without one. */
export function moveColumn(menu: Menu, layout: ColumnLayout, name: string, before: string | undefined): ColumnLayout {
  const rest = shownColumns(menu, layout).filter((other) => other !== name);
  const at = before === undefined ? rest.length : rest.indexOf(before);
  return at < 0 || rest.length === shownColumns(menu, layout).length
    ? layout
    : { ...layout, columns: rest.toSpliced(at, 0, name) };
}
