import type { Kind, Referent } from '../kind.js';
import { quoted } from './quoted.js';
import { type ReferenceOptions, referenceToOneOf } from './reference.js';
import { name } from './text.js';

const plain = name();
const ACCEPTS = `${plain.accepts}, without a comma, @ or %`;

/** Name of a routing table: one that can stand behind the @ of a gateway. */
export const tableName: Kind = {
  ...plain,
  accepts: ACCEPTS,
  parse: (text) => (/[,@%]/.test(text) ? { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` } : plain.parse(text)),
};

/** Menus whose items are routing tables. */
export const TABLE_REFERENTS: readonly Referent[] = [
  { menu: '/routing/table', prop: 'name' },
  { menu: '/ip/vrf', prop: 'name' },
];

/** Name of a routing table that exists. */
export const tableReference = (options?: ReferenceOptions): Kind => referenceToOneOf(TABLE_REFERENTS, options);
