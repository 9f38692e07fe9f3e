/** Visibility of windows: a completely covered window closes its live topics. Pure. */
import type { Rect, Size } from './geometry.ts';

/** Parts of `rect` that `cover` does not cover. */
function subtractRect(rect: Rect, cover: Rect): readonly Rect[] {
  const left = Math.max(rect.x, cover.x);
  const right = Math.min(rect.x + rect.width, cover.x + cover.width);
  const top = Math.max(rect.y, cover.y);
  const bottom = Math.min(rect.y + rect.height, cover.y + cover.height);
  if (left >= right || top >= bottom) return [rect];
  return [
    { x: rect.x, y: rect.y, width: rect.width, height: top - rect.y },
    { x: rect.x, y: bottom, width: rect.width, height: rect.y + rect.height - bottom },
    { x: rect.x, y: top, width: left - rect.x, height: bottom - top },
    { x: right, y: top, width: rect.x + rect.width - right, height: bottom - top },
  ].filter((part) => part.width > 0 && part.height > 0);
}

/** Whether no part of `rect` is visible on the desktop below the rectangles of `above`. */
export function isCovered(rect: Rect, above: readonly Rect[], desktop: Size): boolean {
  const left = Math.max(rect.x, 0);
  const top = Math.max(rect.y, 0);
  const width = Math.min(rect.x + rect.width, desktop.width) - left;
  const height = Math.min(rect.y + rect.height, desktop.height) - top;
  if (width <= 0 || height <= 0) return true;
  let parts: readonly Rect[] = [{ x: left, y: top, width, height }];
  for (const cover of above) {
    parts = parts.flatMap((part) => subtractRect(part, cover));
    if (parts.length === 0) return true;
  }
  return false;
}
