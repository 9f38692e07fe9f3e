/** Snaps edges of windows to nearby edges. Pure. */
import type { Edges, Rect, Size } from './geometry.ts';

/** Maximum distance at which edges snap, px. */
const SNAP_PX = 8;

interface Lines {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

/** The edges to snap to: those of the desktop and of other windows. */
export function snapLines(desktop: Size, windows: readonly Rect[]): Lines {
  return {
    x: [0, desktop.width, ...windows.flatMap((rect) => [rect.x, rect.x + rect.width])],
    y: [0, desktop.height, ...windows.flatMap((rect) => [rect.y, rect.y + rect.height])],
  };
}

/** The smallest step that moves one of the edges onto one of the lines; 0 when none is near. */
function stepTo(lines: readonly number[], edges: readonly number[]): number {
  let best = 0;
  let distance = SNAP_PX + 1;
  for (const line of lines) {
    for (const edge of edges) {
      const away = Math.abs(line - edge);
      if (away < distance) {
        distance = away;
        best = line - edge;
      }
    }
  }
  return best;
}

/** The snapped position of a window that is being moved. */
export function snapMove(rect: Rect, lines: Lines): Rect {
  return {
    ...rect,
    x: rect.x + stepTo(lines.x, [rect.x, rect.x + rect.width]),
    y: rect.y + stepTo(lines.y, [rect.y, rect.y + rect.height]),
  };
}

/** The steps that move the dragged edges onto lines. */
export function snapResize(rect: Rect, edges: Edges, lines: Lines): { readonly dx: number; readonly dy: number } {
  const x = edges.left ? [rect.x] : edges.right ? [rect.x + rect.width] : [];
  const y = edges.top ? [rect.y] : edges.bottom ? [rect.y + rect.height] : [];
  return { dx: stepTo(lines.x, x), dy: stepTo(lines.y, y) };
}
