// @ts-check
/** The drawing of layers and the arrows between them, as an image that every browser shows. */

/**
 * `arrows` say in `imports` what makes them, which is shown under the pointer.
 * @typedef {object} Sheet
 * @property {string} title
 * @property {readonly (readonly string[])[]} lines entries of each layer, from the top down
 * @property {readonly import('./rules.mjs').Arrow[]} arrows
 */

// Lengths are in the drawing's units: pixels, unless it is scaled.
const WIDTH = 1200;
const LINE = 110;
const BOX = { height: 30, padding: 14, letter: 7.6 };
const TITLE = 56;

const STYLE = `
  text { font: 13px ui-monospace, monospace; text-anchor: middle; dominant-baseline: central; fill: #222 }
  .title { font-size: 18px; text-anchor: start }
  rect { fill: #eef2f8; stroke: #5b6b85 }
  path { fill: none; stroke: #5b6b85; stroke-opacity: .45 }
  path.up { stroke: #c22; stroke-opacity: 1 }
  path:hover { stroke: #e07b00; stroke-opacity: 1 }
`;

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** One image of all sheets, one below the other. @param {readonly Sheet[]} sheets */
export function drawing(sheets) {
  let top = 0;
  const parts = sheets.map((sheet) => {
    const part = `<g transform="translate(0 ${top})">${sheetMarkup(sheet)}</g>`;
    top += TITLE + sheet.lines.length * LINE;
    return part;
  });
  const size = `width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><style>${STYLE}</style>${parts.join('')}</svg>\n`;
}

/** @param {Sheet} sheet */
function sheetMarkup({ title, lines, arrows }) {
  /** Middle of each box. @type {Map<string, { x: number, y: number }>} */
  const places = new Map();
  for (const [row, entries] of lines.entries()) {
    for (const [at, entry] of entries.entries()) {
      // Boxes that are alone in their lines are shifted, so that arrows past them are visible.
      const shift = entries.length === 1 ? ((row % 3) - 1) * (WIDTH / 5) : 0;
      const x = (WIDTH * (at + 0.5)) / entries.length + shift;
      places.set(entry, { x, y: TITLE + row * LINE + BOX.height });
    }
  }
  const boxes = [...places].map(([entry, { x, y }]) => {
    const width = entry.length * BOX.letter + 2 * BOX.padding;
    const corner = `x="${x - width / 2}" y="${y - BOX.height / 2}"`;
    const box = `<rect ${corner} width="${width}" height="${BOX.height}" rx="4"/>`;
    return `${box}<text x="${x}" y="${y}">${escaped(entry)}</text>`;
  });
  const curves = arrows.flatMap(({ from, to, imports }) => {
    const [a, b] = [places.get(from), places.get(to)];
    if (a === undefined || b === undefined) return [];
    const up = a.y >= b.y;
    const [start, end] = [a.y + (up ? -1 : 1) * (BOX.height / 2), b.y + (up ? 1 : -1) * (BOX.height / 2)];
    const bend = (end - start) / 2;
    const way = `M${a.x} ${start}C${a.x} ${start + bend} ${b.x} ${end - bend} ${b.x} ${end}`;
    const thick = (1 + Math.log2(imports.length) / 2).toFixed(1);
    const about = `${from} → ${to}, ${imports.length}:\n${imports.join('\n')}`;
    return `<path class="${up ? 'up' : 'down'}" stroke-width="${thick}" d="${way}"><title>${escaped(about)}</title></path>`;
  });
  return `<text class="title" x="20" y="${TITLE / 3}">${escaped(title)}</text>${curves.join('')}${boxes.join('')}`;
}
