/**
 * The second press of a double click means what the first one was on. Where that is gone by then (a window that its X has
 * closed, a menu after its command, a list of choices), or something new lies over it, the press goes nowhere.
 */

/** Presses that are no further apart belong together: in time, ms, and in either direction, px. */
const TOGETHER_MS = 500;
const TOGETHER_PX = 8;

/** What closes, opens and moves as a whole. All else is the page itself. */
const SURFACES = '[data-window], dialog, [popover], .toast';

/** A press of the main button, or the touch of a finger. */
export interface Press {
  /** When, ms. */
  readonly at: number;
  readonly x: number;
  readonly y: number;
  /** What it was on; null is the page itself. */
  readonly surface: object | null;
  /** The left, right and upper edge of that when the press began. The lower one moves as content comes. */
  readonly edges: string;
  /** It was on a button or a link. */
  readonly onControl: boolean;
}

/**
 * Whether a press goes nowhere.
 * @param before the press before it
 * @param isRepeat the browser counts both as one double click, by its own measure of time and distance
 */
export function isStray(before: Press | undefined, press: Press, isRepeat: boolean): boolean {
  if (before === undefined) return false;
  const isNear = Math.abs(press.x - before.x) <= TOGETHER_PX && Math.abs(press.y - before.y) <= TOGETHER_PX;
  if (!isRepeat && (!isNear || press.at - before.at > TOGETHER_MS)) return false;
  if (press.surface !== before.surface) return true;
  // Its Maximise has taken the button away from under the pointer. Where an edge was pulled, that is as meant.
  return before.onControl && press.edges !== before.edges;
}

function pressOf(event: PointerEvent): Press {
  const target = event.target instanceof Element ? event.target : null;
  const surface = target?.closest(SURFACES) ?? null;
  const box = surface?.getBoundingClientRect();
  return {
    at: event.timeStamp,
    x: event.clientX,
    y: event.clientY,
    surface,
    edges: box === undefined ? '' : `${box.left} ${box.right} ${box.top}`,
    onControl: target !== null && target.closest('button, a') !== null,
  };
}

/** All that a press brings with it, in the order in which it comes. */
const FOLLOWING = ['mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick'] as const;

/** Keeps stray presses from all of the page. To be called before anybody else listens to the window. */
export function swallowStrayPresses(): void {
  let before: Press | undefined;
  let last: Press | undefined;
  let isSwallowed = false;
  /** A key, or another button, comes between two presses: they are no double click. */
  const part = () => {
    last = undefined;
  };
  const swallow = (event: Event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const begin = (event: PointerEvent) => {
    isSwallowed = false;
    if (!event.isPrimary || event.button !== 0) return part();
    before = last;
    last = pressOf(event);
    isSwallowed = isStray(before, last, false);
    if (!isSwallowed) return;
    // A third press at once still means what the first one was on.
    last = { ...last, surface: before?.surface ?? null, edges: before?.edges ?? '' };
    swallow(event);
  };
  const follow = (event: MouseEvent) => {
    // A button that is pressed by key, or by its label, has no count.
    if (event.type === 'click' && event.detail === 0) return;
    if (event.type === 'mousedown' && event.button === 0 && event.detail > 1 && last !== undefined) {
      isSwallowed ||= isStray(before, last, true);
    }
    if (isSwallowed) swallow(event);
  };
  window.addEventListener('pointerdown', begin, true);
  window.addEventListener('keydown', part, true);
  for (const type of FOLLOWING) window.addEventListener(type, follow, true);
}
