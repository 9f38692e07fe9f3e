/**
 * Writes rows into the document. Elements are reused, and only cells whose text has changed are written: the cost of an
 * update of the live feed is proportional to its changes, and the cost of scrolling to the rows that come into view.
 */
import type { Menu } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { markColumn, rowMark } from './cells/row-mark.ts';
import { cellText, flagLetters, flagWords, reason, rowTone } from './cells/text.ts';
import { type Column, hasCommentLines } from './columns.ts';
import { hiddenMatch, writeMarked } from './find-matches.ts';
import { pinClass, pinOffset } from './pinned-columns.ts';
import { treePlace } from './tree.ts';

/** Rows to draw: row numbers `first` to `last`, both inclusive. */
interface View {
  readonly first: number;
  readonly last: number;
  /** Y coordinate of a row inside the body, px. */
  readonly top: (index: number) => number;
  /** Height of a row with all its lines, px. */
  readonly height: (index: number) => number;
  /** Id of the row with a number; undefined while it is not loaded. */
  readonly idAt: (index: number) => string | undefined;
  /**
   * True while the list is being scrolled: the elements may then be in another order than the rows, as reordering them
   * is expensive.
   */
  readonly isScrolling: boolean;
  readonly row: (id: string) => Row | undefined;
  readonly isStale: (id: string) => boolean;
  readonly lines: RowLines;
  readonly selected: ReadonlySet<string>;
  readonly focus: string | undefined;
  /** Number in the `#` column; empty if it is unknown. */
  readonly number: (index: number, row: Row) => string;
}

interface Cell {
  readonly element: HTMLElement;
  /** The element that contains the text and the mark; the cell itself if it contains nothing else. */
  readonly label: HTMLElement;
  /** Undefined when it must be written again. */
  text: string | undefined;
}

interface DrawnRow {
  readonly root: HTMLElement;
  comment: HTMLElement | undefined;
  reason: HTMLElement | undefined;
  found: HTMLElement | undefined;
  readonly cells: readonly Cell[];
  row: Row | undefined;
  index: number;
  top: number;
  height: number;
  className: string;
  selected: string;
}

/** Caches the extra lines of rows, while columns and search text are unchanged. */
export class RowLines {
  readonly #menu: Menu;
  readonly #columns: readonly Column[];
  readonly #comments: boolean;
  readonly #found = new WeakMap<Row, string>();
  readonly find: string;

  constructor(menu: Menu, columns: readonly Column[], find: string) {
    this.#menu = menu;
    this.#columns = columns;
    this.#comments = hasCommentLines(menu, columns);
    this.find = find;
  }

  /** The comment above the row; empty for none. */
  comment(row: Row): string {
    return this.#comments ? (row.comment ?? '') : '';
  }

  /** Hidden property of the row that matches the search text; empty if a visible one matches. */
  found(row: Row): string {
    if (this.find === '') return '';
    const known = this.#found.get(row) ?? hiddenMatch(this.#menu, this.#columns, row, this.find) ?? '';
    this.#found.set(row, known);
    return known;
  }

  count(row: Row): number {
    const lines = [this.comment(row), reason(row) ?? '', this.found(row)];
    return lines.filter((text) => text !== '').length;
  }
}

/** Creates the content of a cell that carries the tree; returns the element for its text. */
function treeCellLabel(cell: HTMLElement): HTMLElement {
  cell.classList.add('cell-tree');
  const handle = document.createElement('span');
  handle.className = 'tree-expander';
  handle.dataset.expander = '';
  const label = document.createElement('span');
  cell.append(handle, label);
  return label;
}

/** Marks all texts of a row to be written again. */
function invalidate(drawn: DrawnRow): void {
  drawn.row = undefined;
  for (const cell of drawn.cells) cell.text = undefined;
  for (const line of [drawn.comment, drawn.reason, drawn.found]) if (line !== undefined) line.title = '';
}

export class RowPainter {
  readonly #pane: HTMLElement;
  readonly #menu: Menu;
  readonly #gridId: string;
  readonly #drawn = new Map<string, DrawnRow>();
  #recycled: DrawnRow[] = [];
  #columns: readonly Column[] = [];
  readonly #marked: string | undefined;
  /** Search text that is highlighted in the rows. */
  #find = '';
  /** Length of the longest text of each column so far, characters. */
  readonly #longest = new Map<string, number>();
  #outgrown = new Set<string>();
  /** Index of the column that carries the tree; -1 in a list. */
  #tree = -1;

  constructor(pane: HTMLElement, menu: Menu, gridId: string) {
    this.#pane = pane;
    this.#menu = menu;
    this.#marked = markColumn(menu);
    this.#gridId = gridId;
  }

  /** Id of the element for a row. */
  elementId(id: string): string {
    return `${this.#gridId}-${id.replace('*', 'r')}`;
  }

  /** Sets the columns; all rows are drawn again when they differ. */
  setColumns(columns: readonly Column[]): void {
    const tree = columns.findIndex((column) => column.tree);
    const same =
      tree === this.#tree &&
      columns.length === this.#columns.length &&
      columns.every(
        (column, i) => column.name === this.#columns[i]?.name && column.pinIndex === this.#columns[i]?.pinIndex,
      );
    this.#columns = columns;
    this.#tree = tree;
    if (same) return;
    this.#pane.replaceChildren();
    this.#drawn.clear();
    this.#recycled = [];
  }

  /** Columns in which a text longer than all earlier ones was written since the last call. */
  takeOutgrownColumns(): ReadonlySet<string> {
    const longer = this.#outgrown;
    if (longer.size > 0) this.#outgrown = new Set();
    return longer;
  }

  paint(view: View): void {
    // Every text is written again.
    if (view.lines.find !== this.#find)
      for (const drawn of [...this.#drawn.values(), ...this.#recycled]) invalidate(drawn);
    this.#find = view.lines.find;
    const wanted = new Set<string>();
    for (let index = view.first; index <= view.last; index++) wanted.add(view.idAt(index) ?? `#${index}`);
    for (const [key, drawn] of this.#drawn) {
      if (wanted.has(key)) continue;
      this.#drawn.delete(key);
      this.#recycled.push(drawn);
    }
    for (let index = view.first; index <= view.last; index++) {
      const id = view.idAt(index);
      const drawn = this.#take(id ?? `#${index}`);
      if (!drawn.root.isConnected) this.#pane.append(drawn.root);
      this.#write(drawn, index, id, view);
    }
    for (const drawn of this.#recycled) drawn.root.remove();
    this.#recycled.length = Math.min(this.#recycled.length, 64);
    if (!view.isScrolling) this.#sort();
  }

  /** Puts the elements into the order of the rows, in which screen readers read them. */
  #sort(): void {
    let at = this.#pane.firstElementChild;
    for (const { root } of [...this.#drawn.values()].sort((a, b) => a.index - b.index)) {
      if (root === at) at = at.nextElementSibling;
      else this.#pane.insertBefore(root, at);
    }
  }

  #take(key: string): DrawnRow {
    const known = this.#drawn.get(key);
    if (known !== undefined) return known;
    const drawn = this.#recycled.pop() ?? this.#make();
    this.#drawn.set(key, drawn);
    return drawn;
  }

  #make(): DrawnRow {
    const root = document.createElement('div');
    root.setAttribute('role', 'row');
    const cells = this.#columns.map((column, index) => {
      const element = document.createElement('div');
      element.setAttribute('role', 'gridcell');
      element.setAttribute('aria-colindex', String(index + 1));
      element.className = column.right ? 'cell cell-right' : 'cell';
      if (column.name === '.flags') element.className = 'cell cell-flags';
      if (column.name === 'action') element.className = 'cell cell-action';
      if (column.name === 'comment') element.className = 'cell cell-comment';
      if (column.source?.kind.share === true) element.classList.add('cell-share');
      if (column.name === '.flags') element.classList.add('cell-stuck');
      else if (column === this.#columns.find(({ source }) => source !== undefined)) {
        element.classList.add('cell-stuck', 'cell-stuck-last');
      }
      const offset = pinOffset(column);
      if (offset !== undefined) {
        element.classList.add(pinClass(column));
        element.style.insetInlineEnd = offset;
      }
      const label = column.tree ? treeCellLabel(element) : element;
      if (column.name === this.#marked) label.classList.add('cell-marked');
      root.append(element);
      return { element, label, text: '' };
    });
    return {
      root,
      comment: undefined,
      reason: undefined,
      found: undefined,
      cells,
      row: undefined,
      index: -1,
      top: -1,
      height: -1,
      className: '',
      selected: '',
    };
  }

  #write(drawn: DrawnRow, index: number, id: string | undefined, view: View): void {
    const row = id === undefined ? undefined : view.row(id);
    const { root } = drawn;
    if (drawn.index !== index) {
      drawn.index = index;
      root.setAttribute('aria-rowindex', String(index + 2));
    }
    // Rows are positioned absolutely: rows that stay in view while others appear need no layout and no paint.
    const top = view.top(index);
    if (drawn.top !== top) {
      drawn.top = top;
      root.style.top = `${top}px`;
    }
    const height = view.height(index);
    if (drawn.height !== height) {
      drawn.height = height;
      root.style.height = `${height}px`;
    }
    const selected = id !== undefined && view.selected.has(id);
    const className = [
      'row',
      row === undefined ? 'row-loading' : rowTone(this.#menu, row),
      selected ? 'row-selected' : '',
      id !== undefined && id === view.focus ? 'row-focus' : '',
      id !== undefined && view.isStale(id) ? 'row-stale' : '',
    ]
      .filter((name) => name !== '')
      .join(' ');
    if (drawn.className !== className) {
      drawn.className = className;
      root.className = className;
    }
    if (drawn.selected !== String(selected)) {
      drawn.selected = String(selected);
      root.setAttribute('aria-selected', drawn.selected);
    }
    const elementId = id === undefined ? '' : this.elementId(id);
    if (root.id !== elementId) {
      root.id = elementId;
      if (id === undefined) delete root.dataset.id;
      else root.dataset.id = id;
    }
    // The number of a row may change while the row does not.
    const same = drawn.row === row && row !== undefined;
    if (!same) {
      this.#writeLines(drawn, row, view.lines);
      if (this.#tree >= 0) this.#writePlace(drawn, row);
    }
    drawn.row = row;
    for (const [which, column] of this.#columns.entries()) {
      const cell = drawn.cells[which];
      if (cell !== undefined && (!same || column.name === '.nr')) this.#writeCell(cell, column, index, row, view);
    }
  }

  #writeCell(cell: Cell, column: Column, index: number, row: Row | undefined, view: View): void {
    const text =
      row === undefined
        ? ''
        : column.name === '.flags'
          ? flagLetters(this.#menu, row)
          : column.name === '.nr'
            ? view.number(index, row)
            : column.source === undefined
              ? ''
              : cellText(column.source, row);
    if (column.name === this.#marked) this.#writeMark(cell, row);
    if (text === cell.text) return;
    cell.text = text;
    if (text.length > (this.#longest.get(column.name) ?? 0)) {
      this.#longest.set(column.name, text.length);
      if (column.source !== undefined) this.#outgrown.add(column.name);
    }
    writeMarked(cell.label, text, column.source === undefined ? '' : this.#find);
    if (column.source?.kind.share === true) cell.element.style.backgroundSize = `${Number.parseFloat(text) || 0}% 100%`;
    if (column.name === this.#marked) return;
    if (column.name === '.flags') cell.element.title = row === undefined ? '' : flagWords(this.#menu, row);
    else if (column.name === 'action') cell.element.dataset.action = text;
    else if (!column.right) cell.element.title = text.length > 12 ? text : '';
  }

  /** Writes the indentation, the button that folds, and the corresponding attributes for screen readers. */
  #writePlace({ root, cells }: DrawnRow, row: Row | undefined): void {
    const place = row === undefined ? undefined : treePlace(row);
    const element = cells[this.#tree]?.element;
    const depth = place?.above.length ?? 0;
    root.setAttribute('aria-level', String(depth + 1));
    const fold = place?.fold;
    if (fold === undefined) root.removeAttribute('aria-expanded');
    else root.setAttribute('aria-expanded', String(fold === 'open'));
    if (element === undefined) return;
    element.style.setProperty('--depth', String(depth));
    element.dataset.fold = fold ?? 'none';
  }

  #writeMark(cell: Cell, row: Row | undefined): void {
    const mark = row === undefined ? undefined : rowMark(this.#menu, row);
    const { dataset } = cell.label;
    const load = mark?.load ?? 'none';
    if (dataset.load !== load) dataset.load = load;
    if ((dataset.hinted === '') !== (mark?.hinted === true)) {
      if (mark?.hinted === true) dataset.hinted = '';
      else delete dataset.hinted;
    }
    const title = mark?.title ?? '';
    if (cell.element.title !== title) cell.element.title = title;
  }

  #writeLines(drawn: DrawnRow, row: Row | undefined, lines: RowLines): void {
    const comment = row === undefined ? '' : lines.comment(row);
    drawn.comment = this.#line(drawn, drawn.comment, 'row-comment', comment === '' ? '' : `;;; ${comment}`, true);
    const why = row === undefined ? undefined : reason(row);
    drawn.reason = this.#line(drawn, drawn.reason, 'row-reason', why ?? '', false);
    const found = row === undefined ? '' : lines.found(row);
    drawn.found = this.#line(drawn, drawn.found, 'row-found', found === '' ? '' : `Found in ${found}`, false);
  }

  #line(
    drawn: DrawnRow,
    element: HTMLElement | undefined,
    className: string,
    text: string,
    above: boolean,
  ): HTMLElement | undefined {
    if (text === '') {
      element?.remove();
      return undefined;
    }
    const line = element ?? document.createElement('div');
    if (element === undefined) {
      line.className = className;
      line.setAttribute('role', 'gridcell');
      line.setAttribute('aria-colindex', '1');
      line.setAttribute('aria-colspan', String(this.#columns.length));
      if (above) drawn.root.prepend(line);
      else drawn.root.append(line);
    }
    if (line.title !== text || this.#find !== '') {
      writeMarked(line, text, className === 'row-reason' ? '' : this.#find);
      line.title = text;
    }
    return line;
  }
}
