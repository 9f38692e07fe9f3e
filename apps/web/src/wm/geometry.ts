/** Rectangles on the desktop, in CSS pixels from its top left corner. Pure. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Rect extends Size {
  readonly x: number;
  readonly y: number;
}

/** Height of a title bar. */
export const TITLE_PX = 28;

/** Minimum size of a window, unless the desktop is smaller. */
export const MIN_SIZE: Size = { width: 260, height: 130 };

/** Width of a title bar that must stay on the desktop, px, so that the window can be dragged. */
export const KEEP_PX = 120;

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, Math.max(least, most)));
}

/** The size of a window with the requested size on a desktop. */
function clampedSize(size: Size, desktop: Size): Size {
  return {
    width: Math.min(Math.max(size.width, MIN_SIZE.width), Math.max(desktop.width, 1)),
    height: Math.min(Math.max(size.height, MIN_SIZE.height), Math.max(desktop.height, 1)),
  };
}

/**
 * Moves a window so that enough of its title bar is on the desktop to drag it. It may extend beyond the right and lower
 * edges, but not beyond the left one, where its menu, its tabs and its first buttons would be out of reach.
 */
export function reachableRect(rect: Rect, desktop: Size): Rect {
  const { width, height } = clampedSize(rect, desktop);
  const keep = Math.min(KEEP_PX, width);
  return {
    x: Math.round(clamp(rect.x, 0, desktop.width - keep)),
    y: Math.round(clamp(rect.y, 0, desktop.height - TITLE_PX)),
    width: Math.round(width),
    height: Math.round(height),
  };
}

/**
 * Present rectangle of a window that was placed at `rect` while the desktop had the size `within`: a window that was
 * completely on the desktop remains so when the desktop shrinks, and returns when it grows again.
 */
export function adjustedRect(rect: Rect, within: Size, desktop: Size): Rect {
  const { width, height } = clampedSize(rect, desktop);
  const insideX = rect.x >= 0 && rect.x + rect.width <= within.width;
  const insideY = rect.y >= 0 && rect.y + rect.height <= within.height;
  return reachableRect(
    {
      x: insideX ? clamp(rect.x, 0, desktop.width - width) : rect.x,
      y: insideY ? clamp(rect.y, 0, desktop.height - height) : rect.y,
      width,
      height,
    },
    desktop,
  );
}

/** The nearest rectangle that is completely on the desktop. */
export function wholeRect(rect: Rect, desktop: Size): Rect {
  const { width, height } = clampedSize(rect, desktop);
  return reachableRect(
    { x: clamp(rect.x, 0, desktop.width - width), y: clamp(rect.y, 0, desktop.height - height), width, height },
    desktop,
  );
}

/** Size of the part of a focused element that must be on the desktop, px; of a smaller element, all of it. */
const SEEN_PX: Size = { width: 200, height: 80 };

/** Whether enough of an element in a window is on the desktop to use it. */
export function isInSight({ x, y, width, height }: Rect, desktop: Size): boolean {
  const seen = (from: number, size: number, room: number) => Math.min(from + size, room) - Math.max(from, 0);
  return (
    seen(x, width, desktop.width) >= Math.min(width, SEEN_PX.width, desktop.width) - 1 &&
    seen(y, height, desktop.height) >= Math.min(height, SEEN_PX.height, desktop.height) - 1
  );
}

/** Edges of a window that a resize moves. */
export interface Edges {
  readonly left?: boolean;
  readonly right?: boolean;
  readonly top?: boolean;
  readonly bottom?: boolean;
}

/** The rectangle after some edges were moved by `dx`, `dy`; other edges stay. */
export function resizedRect(rect: Rect, edges: Edges, dx: number, dy: number): Rect {
  let { x, y, width, height } = rect;
  if (edges.right) width = Math.max(MIN_SIZE.width, width + dx);
  if (edges.bottom) height = Math.max(MIN_SIZE.height, height + dy);
  if (edges.left) {
    width = Math.max(MIN_SIZE.width, width - dx);
    x = rect.x + rect.width - width;
  }
  if (edges.top) {
    // The title bar must not leave the desktop at the top.
    height = Math.max(MIN_SIZE.height, Math.min(height - dy, rect.y + rect.height));
    y = rect.y + rect.height - height;
  }
  return { x, y, width, height };
}

export function sameRect(a: Rect, b: Rect): boolean {
  return a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}
