import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';
import { name } from './text.js';

const plain = name();
const ACCEPTS = `${plain.accepts}, without a comma, @ or %`;

/** Name of a routing table: one that can stand behind the @ of a gateway. */
export const tableName: Kind = {
  ...plain,
  accepts: ACCEPTS,
  parse: (text) => (/[,@%]/.test(text) ? { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` } : plain.parse(text)),
};
