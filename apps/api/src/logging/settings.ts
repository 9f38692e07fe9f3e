import { menuByPath } from '@tollway/schema';
import { effective, requiredValue } from '../compiler/context.js';
import { withBuiltin } from '../snapshot/builtin.js';
import { type ConfigSnapshot, type Row, rowsOf } from '../snapshot/snapshot.js';

/** Settings of the log, read from the rows of its menus. */

export const LOGGING = '/system/logging';
export const LOGGING_ACTION = '/system/logging/action';

export interface MemorySettings {
  /** Maximum number of messages that it holds. */
  readonly lines: number;
  /** When full, no more messages are added; otherwise the oldest are removed. */
  readonly stopOnFull: boolean;
}

export interface DiskSettings {
  /** Name of the files, before their numbers. */
  readonly fileName: string;
  readonly linesPerFile: number;
  readonly fileCount: number;
  /** When all files are full, nothing more is written; otherwise the oldest file is deleted. */
  readonly stopOnFull: boolean;
}

export interface RemoteSettings {
  readonly address: string;
  readonly port: number;
  /** Undefined: the operating system chooses the address. */
  readonly srcAddress: string | undefined;
  readonly protocol: 'udp' | 'tcp';
  readonly format: 'default' | 'syslog';
  readonly timeFormat: 'bsd-syslog' | 'iso8601';
  /** Facility of syslog by its name. */
  readonly facility: string;
  /** Severity of syslog by its name, or `auto`. */
  readonly severity: string;
}

/** Destination of the messages of an action; undefined for a remote action without an address. */
type Target =
  | { readonly kind: 'memory'; readonly settings: MemorySettings }
  | { readonly kind: 'disk'; readonly settings: DiskSettings }
  | { readonly kind: 'remote'; readonly settings: RemoteSettings }
  | { readonly kind: 'echo' | 'none' };

export interface LogAction {
  readonly id: number;
  readonly name: string;
  readonly target: Target;
}

export interface RuleSettings {
  /** Wanted topics, and unwanted topics with a leading `!`. */
  readonly topics: readonly string[];
  readonly prefix: string;
  /** An extended regular expression of POSIX. */
  readonly regex: string | undefined;
  /** Name of the action. */
  readonly action: string;
}

/** Whether an address is the unspecified address. */
export const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::';

/** Rows of a menu, built-in rows first. */
function allRows(snapshot: ConfigSnapshot, path: string): readonly Row[] {
  const menu = menuByPath(path);
  return menu === undefined ? [] : withBuiltin(menu, rowsOf(snapshot, path));
}

/** Rules of the log, including disabled ones. */
export const logRuleRows = (snapshot: ConfigSnapshot): readonly Row[] => allRows(snapshot, LOGGING);

/** Settings of a rule of the log. */
export function logRuleOf(row: Row): RuleSettings {
  const value = (property: string): string => effective(LOGGING, row, property) ?? '';
  const topics = value('topics');
  return {
    topics: topics === '' ? [] : topics.split(','),
    prefix: value('prefix'),
    regex: effective(LOGGING, row, 'regex'),
    action: value('action'),
  };
}

/** Actions of the log. */
export const logActions = (snapshot: ConfigSnapshot): readonly LogAction[] =>
  allRows(snapshot, LOGGING_ACTION).map((row) => ({ id: row.id, name: row.values.name ?? '', target: targetOf(row) }));

function targetOf(row: Row): Target {
  const text = (property: string): string => requiredValue(LOGGING_ACTION, row, property);
  const number = (property: string): number => Number(text(property));
  const isOn = (property: string): boolean => text(property) === 'true';
  switch (row.values.target) {
    case 'memory':
      return { kind: 'memory', settings: { lines: number('memory-lines'), stopOnFull: isOn('memory-stop-on-full') } };
    case 'disk':
      return {
        kind: 'disk',
        settings: {
          fileName: text('disk-file-name'),
          linesPerFile: number('disk-lines-per-file'),
          fileCount: number('disk-file-count'),
          stopOnFull: isOn('disk-stop-on-full'),
        },
      };
    case 'remote': {
      if (isUnspecified(text('remote'))) return { kind: 'none' };
      const srcAddress = text('src-address');
      return {
        kind: 'remote',
        settings: {
          address: text('remote'),
          port: number('remote-port'),
          srcAddress: isUnspecified(srcAddress) ? undefined : srcAddress,
          protocol: text('remote-protocol') === 'tcp' ? 'tcp' : 'udp',
          format: text('remote-log-format') === 'syslog' ? 'syslog' : 'default',
          timeFormat: text('syslog-time-format') === 'iso8601' ? 'iso8601' : 'bsd-syslog',
          facility: text('syslog-facility'),
          severity: text('syslog-severity'),
        },
      };
    }
    default:
      return { kind: 'echo' };
  }
}
