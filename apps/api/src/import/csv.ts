/** A line of a list. */
export interface CsvLine {
  /** From 1, as an editor counts them. */
  readonly number: number;
  readonly cells: readonly string[];
  /** What is wrong with its quotes, for people. */
  readonly problem?: string;
}

/** What separates cells: the first of these that the first line holds. */
const SEPARATORS = ['\t', ';', ','] as const;

/**
 * Cells of a list, line by line (RFC 4180), whatever its line ends are. Blank lines and lines that begin with `#` are
 * left out; cells lose blanks around them, and their quotes.
 */
export function csvLines(text: string): CsvLine[] {
  const lines: CsvLine[] = [];
  const source = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  const separator = separatorOf(source);
  let at = 0;
  let number = 1;
  while (at < source.length) {
    const { next, breaks, ...line } = lineFrom(source, at, separator);
    if (line.problem !== undefined || line.cells.some((cell) => cell !== '')) lines.push({ number, ...line });
    at = next;
    number += breaks;
  }
  return lines;
}

function separatorOf(text: string): string {
  const first = text.split('\n').find((line) => line.trim() !== '' && !line.trimStart().startsWith('#')) ?? '';
  return SEPARATORS.find((separator) => first.includes(separator)) ?? ',';
}

interface Read {
  readonly cells: string[];
  readonly problem?: string;
  /** Where the next line begins. */
  readonly next: number;
  /** Line breaks passed, of those inside quotes too. */
  readonly breaks: number;
}

function lineFrom(text: string, start: number, separator: string): Read {
  // A remark is one line, whatever quotes it holds.
  const end = text.indexOf('\n', start);
  const stop = end < 0 ? text.length : end;
  const plain = text.slice(start, stop);
  if (plain.trimStart().startsWith('#')) return { cells: [], next: stop + 1, breaks: 1 };
  if (!plain.includes('"')) {
    return { cells: plain.split(separator).map((cell) => cell.trim()), next: stop + 1, breaks: 1 };
  }
  return quotedLine(text, start, separator);
}

function quotedLine(text: string, start: number, separator: string): Read {
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  let closed = false;
  let problem: string | undefined;
  let breaks = 1;
  let at = start;
  for (; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (quoted) {
      if (char === '"' && text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else if (char === '"') [quoted, closed] = [false, true];
      else {
        if (char === '\n') breaks += 1;
        cell += char;
      }
    } else if (char === '"' && cell.trim() === '') {
      cell = '';
      quoted = true;
    } else if (char === separator) {
      cells.push(cell.trim());
      cell = '';
      closed = false;
    } else if (char === '\n') break;
    else {
      if (closed && char.trim() !== '') {
        problem ??= `column ${cells.length + 1}: text after the closing quote; write a quote inside quotes twice`;
      }
      cell += char;
    }
  }
  cells.push(cell.trim());
  if (quoted) problem = `column ${cells.length}: the quote that begins here is not closed`;
  return { cells, ...(problem !== undefined && { problem }), next: at + 1, breaks };
}
