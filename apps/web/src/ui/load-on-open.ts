/**
 * Handlers for the moment before the list of a `<select>` opens, by pointer or by key: its choices may be fetched
 * again.
 */

interface OpenHandlers {
  readonly onPointerEnter: () => void;
  readonly onPointerDown: () => void;
  readonly onFocus: () => void;
  readonly onKeyDown: () => void;
}

/**
 * Properties of a `<select>` whose choices `load` fetches. They are fetched when the pointer is over it, so that they
 * are there before the list opens; an open list is updated when they arrive later.
 */
export const loadOnOpen = (load: () => void): OpenHandlers => ({
  onPointerEnter: load,
  onPointerDown: load,
  onFocus: load,
  onKeyDown: load,
});
