import { MAX_VALUE_LENGTH, tooLong } from '../config/content.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';

/** A line of a list. */
export interface CsvLine {
  /** Number of the line from 1, as an editor counts them. */
  readonly number: number;
  readonly cells: readonly string[];
  /** Syntax error of the line, for people. */
  readonly problem?: string;
}

/** Maximum number of lines; the rest of a longer list is reported as one error. */
const MAX_LINES = 100_000;
/** Maximum number of cells of a line. */
const MAX_CELLS = 256;

/** Possible separators: the first one in this list that occurs in the first line is used. */
const SEPARATORS = ['\t', ';', ','] as const;

/**
 * Parses a CSV text (RFC 4180) with line ends of any kind, which may be mixed. Blank lines and comments (`#`) are
 * skipped. Quotes and surrounding blanks are removed from cells.
 */
export async function csvLines(text: string, slicer = new TimeSlicer()): Promise<CsvLine[]> {
  const lines: CsvLine[] = [];
  let separator: string | undefined;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  for (let number = 1; at < text.length; ) {
    if (slicer.overAt(number)) await slicer.pause();
    const stop = breakFrom(text, at);
    const plain = text.slice(at, stop);
    const next = afterBreak(text, stop);
    // A comment ends with its line, even if it contains a quote.
    const empty = plain.trim() === '' || plain.trimStart().startsWith('#');
    if (!empty && lines.length === MAX_LINES) {
      lines.push({ number, cells: [], problem: `there are more than ${MAX_LINES} lines, which are read at most` });
      return lines;
    }
    if (!empty) separator ??= SEPARATORS.find((known) => plain.includes(known)) ?? ',';
    if (empty || separator === undefined) {
      number += 1;
      at = next;
    } else if (plain.includes('"')) {
      const { breaks, end, ...line } = await quotedLine(text, at, separator, slicer);
      if (line.problem !== undefined || line.cells.some((cell) => cell !== '')) lines.push({ number, ...line });
      number += breaks;
      at = end;
    } else {
      const cells = plain.split(separator, MAX_CELLS + 1).map((cell) => cell.trim());
      const long = cells.findIndex(({ length }) => length > MAX_VALUE_LENGTH);
      if (cells.length > MAX_CELLS) lines.push({ number, cells: [], problem: TOO_MANY });
      else if (long >= 0) lines.push({ number, cells: [], problem: cellTooLong(long + 1, cells[long]?.length ?? 0) });
      else if (cells.some((cell) => cell !== '')) lines.push({ number, cells });
      number += 1;
      at = next;
    }
  }
  return lines;
}

const TOO_MANY = `it has more than ${MAX_CELLS} cells`;
const cellTooLong = (column: number, length: number): string => `column ${column}: ${tooLong(length)}`;

const BREAK = /[\r\n]/g;

/** Index of the next line end, or of the end of the text. */
function breakFrom(text: string, start: number): number {
  BREAK.lastIndex = start;
  return BREAK.exec(text)?.index ?? text.length;
}

/** Index after the line end at `at`. */
const afterBreak = (text: string, at: number): number => at + (text[at] === '\r' && text[at + 1] === '\n' ? 2 : 1);

interface Read {
  readonly cells: readonly string[];
  readonly problem?: string;
  /** Index of the next line. */
  readonly end: number;
  /** Number of line ends up to there, including those within quotes. */
  readonly breaks: number;
}

/** A cell while it is read. Characters beyond the maximum length are counted but not kept. */
class Cell {
  readonly #pieces: string[] = [];
  /** True while the cell contains only blanks. */
  blank = true;
  /** Number of characters so far, including the blanks around the text. */
  length = 0;

  add(piece: string): void {
    if (this.length <= MAX_VALUE_LENGTH) this.#pieces.push(piece);
    this.length += piece.length;
    this.blank &&= piece.trim() === '';
  }

  get tooLong(): boolean {
    return this.length > MAX_VALUE_LENGTH;
  }

  text(): string {
    return this.#pieces.join('').trim();
  }
}

/** Reads a line with quotes, which may contain line ends. */
async function quotedLine(text: string, start: number, separator: string, slicer: TimeSlicer): Promise<Read> {
  const special = new RegExp(`[\\r\\n"${separator}]`, 'g');
  const inQuotes = /[\r\n"]/g;
  const cells: string[] = [];
  let cell = new Cell();
  let quoted = false;
  let closed = false;
  let problem: string | undefined;
  let breaks = 1;
  let at = start;
  for (let piece = 1; ; piece += 1) {
    if (slicer.overAt(piece)) await slicer.pause();
    const pattern = quoted ? inQuotes : special;
    pattern.lastIndex = at;
    const stop = pattern.exec(text)?.index ?? text.length;
    const plain = text.slice(at, stop);
    if (closed && plain.trim() !== '') problem ??= afterClosing(cells.length + 1);
    if (plain !== '') cell.add(plain);
    const char = text[stop];
    at = stop + 1;
    if (quoted && char !== undefined) {
      if (char !== '"') {
        cell.add('\n');
        breaks += 1;
        at = afterBreak(text, stop);
      } else if (text[at] === '"') {
        cell.add('"');
        at += 1;
      } else [quoted, closed] = [false, true];
    } else if (char === '"') {
      if (cell.blank) {
        cell = new Cell();
        quoted = true;
      } else {
        if (closed) problem ??= afterClosing(cells.length + 1);
        cell.add('"');
      }
    } else {
      if (cell.tooLong) problem ??= cellTooLong(cells.length + 1, cell.length);
      if (cells.length <= MAX_CELLS) cells.push(cell.tooLong ? '' : cell.text());
      if (char === separator) {
        cell = new Cell();
        closed = false;
        continue;
      }
      const where = { end: afterBreak(text, stop), breaks };
      if (cells.length > MAX_CELLS) return { cells: [], problem: TOO_MANY, ...where };
      if (quoted) problem = `column ${cells.length}: the quote that begins here is not closed`;
      return { cells, ...(problem !== undefined && { problem }), ...where };
    }
  }
}

const afterClosing = (column: number): string =>
  `column ${column}: text after the closing quote; write a quote inside quotes twice`;
