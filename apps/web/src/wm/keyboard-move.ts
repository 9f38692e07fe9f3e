/** Moving and resizing a window by arrow keys. Pure. */
import { MIN_SIZE, type Rect } from './geometry.ts';

/** Step of an arrow key, px: coarse, and fine with Shift. */
const STEP_PX = 16;
const FINE_PX = 2;

/** The rectangle after a key; undefined for other keys than arrows. */
export function movedByKey(rect: Rect, what: 'move' | 'resize', key: string, fine: boolean): Rect | undefined {
  const step = fine ? FINE_PX : STEP_PX;
  const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[key];
  if (by === undefined) return undefined;
  const [dx = 0, dy = 0] = by;
  if (what === 'move') return { ...rect, x: rect.x + dx, y: rect.y + dy };
  return {
    ...rect,
    width: Math.max(MIN_SIZE.width, rect.width + dx),
    height: Math.max(MIN_SIZE.height, rect.height + dy),
  };
}
