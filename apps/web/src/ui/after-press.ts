/**
 * Work that moves what is on the screen waits for the end of a press: a button that moves between the press and the release
 * of the mouse gets no click.
 */

let isPressed = false;

if (typeof window !== 'undefined') {
  window.addEventListener('pointerdown', () => (isPressed = true), true);
  for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, () => (isPressed = false), true);
}

/** Runs a function now, or while the pointer is pressed after its release and the click that it makes. */
export function afterPress(run: () => void): void {
  if (!isPressed) {
    run();
    return;
  }
  const ended = new AbortController();
  const wait = { capture: true, signal: ended.signal };
  for (const end of ['pointerup', 'pointercancel']) {
    window.addEventListener(
      end,
      () => {
        ended.abort();
        // The click follows within the same task.
        setTimeout(run);
      },
      wait,
    );
  }
}
