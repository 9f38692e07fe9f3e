// @ts-check
/** The rules for imports: no circular imports, and none from a lower layer to a higher one. */

/**
 * @typedef {import('./imports.mjs').Graph} Graph
 * @typedef {import('./layers.mjs').Layers} Layers
 */

/**
 * Files that import each other in a circle, each circle whole: the strongly connected components of more than one file
 * (Tarjan, "Depth-first search and linear graph algorithms", 1972).
 * @param {Graph} graph
 * @returns {string[][]}
 */
export function circles(graph) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** Smallest number that is reached from a file of the stack. @type {Map<string, number>} */
  const lowest = new Map();
  /** @type {string[]} */
  const stack = [];
  const open = new Set();
  /** @type {string[][]} */
  const found = [];
  const visit = (/** @type {string} */ file) => {
    const number = numbers.size;
    numbers.set(file, number);
    stack.push(file);
    open.add(file);
    let low = number;
    for (const target of graph.get(file) ?? []) {
      if (!graph.has(target)) continue;
      if (!numbers.has(target)) low = Math.min(low, visit(target));
      else if (open.has(target)) low = Math.min(low, numbers.get(target) ?? low);
    }
    lowest.set(file, low);
    if (low === number) {
      const circle = stack.splice(stack.indexOf(file));
      for (const each of circle) open.delete(each);
      if (circle.length > 1 || graph.get(file)?.has(file)) found.push(circle.sort());
    }
    return low;
  };
  for (const file of graph.keys()) if (!numbers.has(file)) visit(file);
  return found;
}

/**
 * An arrow between two entries of the layers in one folder; `imports` are those of files that make it.
 * @typedef {{ readonly from: string, readonly to: string, readonly imports: string[] }} Arrow
 */

/**
 * @param {Graph} graph
 * @param {string} folder of {@link Layers}
 * @param {readonly (readonly string[])[]} lines
 * @returns {{ arrows: Arrow[], strangers: string[] }} `strangers`: files that are in no layer
 */
export function arrowsBetween(graph, folder, lines) {
  const entries = lines.flat();
  const prefix = folder === '.' ? '' : `${folder}/`;
  const entryOf = (/** @type {string} */ file) => {
    const name = file.slice(prefix.length);
    return entries.find((entry) => name.startsWith(`${entry}/`) || name.replace(/\.[^./]+$/, '') === entry);
  };
  /** @type {Map<string, Arrow>} */
  const arrows = new Map();
  const strangers = [];
  for (const [file, targets] of graph) {
    if (!file.startsWith(prefix)) continue;
    const from = entryOf(file);
    if (from === undefined) {
      strangers.push(file);
      continue;
    }
    for (const target of targets) {
      const to = target.startsWith(prefix) ? entryOf(target) : undefined;
      if (to === undefined || to === from) continue;
      const arrow = arrows.get(`${from} ${to}`) ?? { from, to, imports: [] };
      arrow.imports.push(`${file} → ${target}`);
      arrows.set(`${from} ${to}`, arrow);
    }
  }
  return { arrows: [...arrows.values()], strangers };
}

/**
 * Violations of the rules, a sentence each.
 * @param {Graph} graph
 * @param {Layers} layers
 * @returns {string[]}
 */
export function violations(graph, layers) {
  const wrong = circles(graph).map((circle) => `imports in a circle: ${circle.join(', ')}`);
  for (const [folder, lines] of Object.entries(layers)) {
    const { arrows, strangers } = arrowsBetween(graph, folder, lines);
    for (const file of strangers) wrong.push(`${file} is in no layer of ${folder}`);
    const lineOf = (/** @type {string} */ entry) => lines.findIndex((line) => line.includes(entry));
    for (const { from, to, imports } of arrows) {
      if (lineOf(from) < lineOf(to)) continue;
      const why = lineOf(from) === lineOf(to) ? 'is in the same layer as' : 'is below';
      for (const each of imports) wrong.push(`${each}: ${from} ${why} ${to}`);
    }
  }
  return wrong;
}
