/** Matches of the search text of Find in the cells of a row. Pure. */
import { displayValue, type Menu } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { cellText, flagLetters } from './cells/text.ts';
import { type Column, hasCommentLines } from './columns.ts';

/** A part of a text that does, or does not, match the search text. */
interface Segment {
  readonly text: string;
  readonly hit: boolean;
}

/** Whether a text contains another one, ignoring case. */
function holds(text: string | undefined, find: string): boolean {
  return text?.toLowerCase().includes(find.toLowerCase()) === true;
}

/** A text split at the matches of the search text. */
export function splitAtMatches(text: string, find: string): readonly Segment[] {
  const lower = text.toLowerCase();
  const wanted = find.toLowerCase();
  // Lower case of some letters has several characters: then indexes of one text are not valid in the other.
  if (wanted === '' || lower.length !== text.length || !lower.includes(wanted)) return [{ text, hit: false }];
  const cut: Segment[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    if (at > from) cut.push({ text: text.slice(from, at), hit: false });
    cut.push({ text: text.slice(at, at + wanted.length), hit: true });
    from = at + wanted.length;
  }
  if (from < text.length) cut.push({ text: text.slice(from), hit: false });
  return cut;
}

/** Replaces line breaks by a symbol, as a row has one line for a text. */
export function inOneLine(text: string): string {
  return text.includes('\n') ? text.replaceAll(/\r?\n/g, ' ↵ ') : text;
}

/** Writes a text with its matches highlighted. */
export function writeMarked(element: HTMLElement, text: string, find: string): void {
  const cut = splitAtMatches(text, find);
  if (cut.every(({ hit }) => !hit)) {
    element.textContent = inOneLine(text);
    return;
  }
  element.replaceChildren(
    ...cut.map((segment) => {
      if (!segment.hit) return inOneLine(segment.text);
      const mark = document.createElement('mark');
      mark.textContent = inOneLine(segment.text);
      return mark;
    }),
  );
}

/**
 * A property with a match in a row without a visible match: `Dst. Port: 5201`. Empty for other rows, and for rows that
 * are shown for another reason, e.g. as ancestors of a match in a tree.
 */
export function hiddenMatch(menu: Menu, columns: readonly Column[], row: Row, find: string): string | undefined {
  if (find === '') return undefined;
  if (columns.some(({ source }) => source !== undefined && holds(cellText(source, row), find))) return undefined;
  if (hasCommentLines(menu, columns) && holds(row.comment, find)) return undefined;
  if (holds(flagLetters(menu, row), find)) return undefined;
  for (const [name, prop] of Object.entries(menu.props)) {
    const value = row[name];
    if (value === undefined || prop.secret === true || prop.kind.filterType === 'flag') continue;
    const shown = displayValue(prop, value);
    if (holds(shown, find)) return `${prop.label}: ${shown}`;
    const measured = prop.readOnly === true && prop.kind.display !== undefined;
    if (!measured && holds(value, find)) return `${prop.label}: ${value}`;
  }
  return undefined;
}
