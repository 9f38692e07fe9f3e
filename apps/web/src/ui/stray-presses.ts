/**
 * Suppresses the second press of a double click whose first press closed or covered the surface below the pointer (a
 * window, a menu, a list of choices): that press is stray, as its target is not the element that the user meant.
 */

/** Maximum distance between the presses of a double click: in time, ms, and in each direction, px. */
const DOUBLE_CLICK_MS = 500;
const DOUBLE_CLICK_PX = 8;

/** Elements that open, close and move as a whole. */
const SURFACES = '[data-window], dialog, [popover], .toast';

/** A press of the primary mouse button, or a touch. */
export interface Press {
  /** Time stamp of the event, ms. */
  readonly at: number;
  readonly x: number;
  readonly y: number;
  /** The surface that was pressed; null for the page itself. */
  readonly surface: object | null;
  /**
   * Left, right and upper edge of the surface at the press. The lower edge is omitted, as it moves when content is
   * loaded.
   */
  readonly edges: string;
  /** Whether a button or link was pressed. */
  readonly onControl: boolean;
}

/**
 * Whether a press is stray.
 * @param before the previous press
 * @param isRepeat whether the browser reports both as one double click, by its own limits of time and distance
 */
export function isStray(before: Press | undefined, press: Press, isRepeat: boolean): boolean {
  if (before === undefined) return false;
  const isNear = Math.abs(press.x - before.x) <= DOUBLE_CLICK_PX && Math.abs(press.y - before.y) <= DOUBLE_CLICK_PX;
  if (!isRepeat && (!isNear || press.at - before.at > DOUBLE_CLICK_MS)) return false;
  if (press.surface !== before.surface) return true;
  // A title bar button such as Maximise has resized the window. Resizing by dragging an edge does not count.
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

/** Events that follow a press, in order. */
const FOLLOW_UP_EVENTS = ['mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick'] as const;

/** Stops stray presses before they reach the page. Must be called before any other listener is added to the window. */
export function suppressStrayPresses(): void {
  let before: Press | undefined;
  let last: Press | undefined;
  let isSuppressed = false;
  /** A key or another button between two presses: they are no double click. */
  const reset = () => {
    last = undefined;
  };
  const suppress = (event: Event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const begin = (event: PointerEvent) => {
    isSuppressed = false;
    if (!event.isPrimary || event.button !== 0) return reset();
    before = last;
    last = pressOf(event);
    isSuppressed = isStray(before, last, false);
    if (!isSuppressed) return;
    // A third press is compared with the surface of the first one.
    last = { ...last, surface: before?.surface ?? null, edges: before?.edges ?? '' };
    suppress(event);
  };
  const follow = (event: MouseEvent) => {
    // A click by a key or on a label has no count.
    if (event.type === 'click' && event.detail === 0) return;
    if (event.type === 'mousedown' && event.button === 0 && event.detail > 1 && last !== undefined) {
      isSuppressed ||= isStray(before, last, true);
    }
    if (isSuppressed) suppress(event);
  };
  window.addEventListener('pointerdown', begin, true);
  window.addEventListener('keydown', reset, true);
  for (const type of FOLLOW_UP_EVENTS) window.addEventListener(type, follow, true);
}
