import { SYSLOG_FACILITIES, SYSLOG_SEVERITIES } from '@tollway/schema';
import { type LogMessage, plainLine } from './message.js';
import type { RemoteSettings } from './settings.js';

/** Format of messages for servers. */

/** Name of the program, APP-NAME of RFC 5424 and TAG of RFC 3164. */
const PROGRAM = 'tollway';
/** Placeholder for an unknown field, NILVALUE of RFC 5424. */
const NIL = '-';
/** Byte order mark before a text in UTF-8 (RFC 5424 §6.4). */
const BYTE_ORDER_MARK = '\uFEFF';
/** Maximum length of HOSTNAME and MSGID in RFC 5424, octets. */
const MAX_HOSTNAME = 255;
const MAX_MESSAGE_ID = 32;

/** Severities by topics, the worst first. */
const SEVERITY_OF_TOPIC: readonly (readonly [topic: string, severity: (typeof SYSLOG_SEVERITIES)[number]])[] = [
  ['critical', 'critical'],
  ['error', 'error'],
  ['warning', 'warning'],
  ['debug', 'debug'],
];

type Format = Pick<RemoteSettings, 'format' | 'timeFormat' | 'facility' | 'severity'>;

/**
 * Formats a message as a line for a server.
 * @param hostname name of the router
 */
export function remoteLine(message: LogMessage, settings: Format, hostname: string): string {
  if (settings.format === 'default') return plainLine(message);
  const priority = 8 * facilityOf(settings) + severityOf(message, settings);
  return settings.timeFormat === 'iso8601'
    ? rfc5424(message, priority, hostname)
    : rfc3164(message, priority, hostname);
}

/** Facility number of the name that the menu uses. */
const facilityOf = ({ facility }: Format): number =>
  Object.entries(SYSLOG_FACILITIES).find(([name]) => name === facility)?.[1] ?? SYSLOG_FACILITIES.daemon;

function severityOf({ topics }: LogMessage, { severity }: Format): number {
  const has = topics.split(',');
  const found = SEVERITY_OF_TOPIC.find(([topic]) => has.includes(topic))?.[1] ?? 'info';
  return SYSLOG_SEVERITIES.findIndex((name) => name === (severity === 'auto' ? found : severity));
}

/** The topics are the MSGID, which identifies the type of message. */
function rfc5424({ timeMs, topics, text }: LogMessage, priority: number, hostname: string): string {
  const header = [
    `<${priority}>1`,
    new Date(timeMs).toISOString(),
    word(hostname, MAX_HOSTNAME),
    PROGRAM,
    NIL,
    word(topics, MAX_MESSAGE_ID),
    NIL,
  ];
  // Plain ASCII needs no byte order mark, which many servers would show.
  const mark = isAscii(text) ? '' : BYTE_ORDER_MARK;
  return `${header.join(' ')} ${mark}${text}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The time is that of the router's clock, without year and zone (RFC 3164 §4.1.2). */
function rfc3164(message: LogMessage, priority: number, hostname: string): string {
  const at = new Date(message.timeMs);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = String(at.getDate()).padStart(2, ' ');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const stamp = `${MONTHS[at.getMonth()]} ${day} ${time}`;
  return `<${priority}>${stamp} ${word(hostname, MAX_HOSTNAME)} ${PROGRAM}: ${plainLine(message)}`;
}

const isAscii = (text: string): boolean => /^[ -~]*$/.test(text);

/** PRINTUSASCII of RFC 5424: no spaces, nothing beyond ASCII. */
const word = (text: string, max: number): string => text.replace(/[^!-~]+/g, '-').slice(0, max) || NIL;
