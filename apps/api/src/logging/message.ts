import { datetimeText } from '@tollway/schema';

/** A message of the router. */
export interface LogMessage {
  readonly timeMs: number;
  /** Comma list, e.g. `system,info`. */
  readonly topics: string;
  /** One line without control characters, see {@link printable}. */
  readonly text: string;
}

/** Destination of messages. */
export interface Destination {
  /** Writes a message. Neither waits nor throws. */
  write(message: LogMessage): void;
  /** Accepts no further messages. Resolves when the accepted ones have been written or have failed. */
  close(): Promise<void>;
}

/** Logs failures and recoveries of a destination. */
export type Report = (severity: 'error' | 'warning' | 'info', text: string) => void;

/** A text with invisible characters and line ends escaped, so that it is one line in the log. */
export const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);

/** A message without its time. */
export const plainLine = ({ topics, text }: LogMessage): string => `${topics} ${text}`;

/** A message with its time, by the router's clock. */
export const datedLine = (message: LogMessage): string => `${datetimeText(message.timeMs)} ${plainLine(message)}`;
