import type { Kind } from '../kind.js';
import { quoted } from './quoted.js';

const ACCEPTS = 'a MAC address AA:BB:CC:DD:EE:FF';

/** Link-layer address, upper case with colons. */
export const mac: Kind = {
  name: 'mac',
  accepts: ACCEPTS,
  parse(text) {
    if (!/^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$/.test(text)) {
      return { ok: false, error: `${quoted(text)} is not ${ACCEPTS}` };
    }
    return { ok: true, value: text.toUpperCase().replaceAll('-', ':') };
  },
  jsonSchema: { type: 'string', pattern: '^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$' },
};
