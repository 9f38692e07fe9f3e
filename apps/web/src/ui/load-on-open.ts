/** Handlers for when the list of a `<select>` is about to be shown, by pointer or by key: its choices may be fetched anew. */

interface OpenHandlers {
  readonly onPointerEnter: () => void;
  readonly onPointerDown: () => void;
  readonly onFocus: () => void;
  readonly onKeyDown: () => void;
}

/**
 * Properties of a `<select>` whose choices `load` fetches. Under the pointer they are there before the list opens; a list
 * that is open already takes in what comes later.
 */
export const loadOnOpen = (load: () => void): OpenHandlers => ({
  onPointerEnter: load,
  onPointerDown: load,
  onFocus: load,
  onKeyDown: load,
});
