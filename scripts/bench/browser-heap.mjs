// @ts-check
/** Content of a heap snapshot of Chromium (the format of its developer tools). */

/** Types of nodes that belong to compiled code. Their size grows with the running time, up to a limit. */
const CODE = new Set(['code', 'object shape']);
/** Types of nodes that belong to the browser: elements, styles, its own timings of requests and events. */
const NATIVE = new Set(['native', 'synthetic', 'hidden']);

/**
 * Bytes by whose they are: `values` are what the page's JavaScript made and still reaches.
 * @typedef {{ values: number, code: number, native: number }} Held
 */

/**
 * @param {{ snapshot: { meta: { node_fields: string[], node_types: [string[], ...unknown[]] } }, nodes: number[] }} heap
 * @returns {Held}
 */
export function held({ snapshot: { meta }, nodes }) {
  const fields = meta.node_fields;
  const [kindAt, sizeAt] = [fields.indexOf('type'), fields.indexOf('self_size')];
  const [kinds] = meta.node_types;
  const sum = { values: 0, code: 0, native: 0 };
  for (let node = 0; node < nodes.length; node += fields.length) {
    const kind = kinds[nodes[node + kindAt] ?? 0] ?? '';
    const whose = CODE.has(kind) ? 'code' : NATIVE.has(kind) ? 'native' : 'values';
    sum[whose] += nodes[node + sizeAt] ?? 0;
  }
  return sum;
}
