import type { Kind } from '../define.js';
import { ipPrefix } from './ip-prefix.js';
import { shown } from './shown.js';

const ACCEPTS = 'a comma list of IPv4 addresses and prefixes a.b.c.d/n';

/** One or more networks, each once, in the order given. */
export const ipPrefixList: Kind = {
  name: 'ip-prefix-list',
  accepts: ACCEPTS,
  parse(text) {
    const prefixes: string[] = [];
    for (const part of text.split(',')) {
      const parsed = ipPrefix.parse(part.trim());
      if (!parsed.ok) return { ok: false, error: `${shown(text)} is not ${ACCEPTS}` };
      if (!prefixes.includes(parsed.value)) prefixes.push(parsed.value);
    }
    return { ok: true, value: prefixes.join(',') };
  },
  compare: (a, b) => ipPrefix.compare?.(a.split(',', 1)[0] ?? '', b.split(',', 1)[0] ?? '') ?? 0,
  jsonSchema: { type: 'string', description: ACCEPTS },
};
