import { datetimeText } from '@tollway/schema';
import type { LogBook, LogLine } from '../state/log-book.js';
import { ArrayRows, type RestRow, type View } from './rows.js';

/** The log, oldest first. */
export function logView(book: LogBook): View {
  return async () => new ArrayRows(book.lines().map(logRow));
}

function logRow({ id, timeMs, topics, message }: LogLine): RestRow {
  return { '.id': `*${id.toString(16).toUpperCase()}`, time: datetimeText(timeMs), buffer: 'memory', topics, message };
}
