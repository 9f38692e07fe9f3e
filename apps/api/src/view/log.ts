import { datetimeText } from '@tollway/schema';
import type { LogBuffer, LogLine } from '../state/log-buffer.js';
import { ArrayRows, type RestRow, type View } from './rows.js';

/** The log, oldest first. */
export function logView(buffer: LogBuffer): View {
  return async () => new ArrayRows(buffer.lines().map(logRow));
}

function logRow({ id, timeMs, topics, message }: LogLine): RestRow {
  return { '.id': `*${id.toString(16).toUpperCase()}`, time: datetimeText(timeMs), buffer: 'memory', topics, message };
}
