/** Live values that are written directly into the document: an update renders nothing in React. */
import { useEffect, useRef } from 'react';
import { paintQueue } from './paint-queue.ts';
import { useVisible } from './visibility.ts';

/** Adds a callback for new values; returns the function that removes it. */
export type Subscribe = (changed: () => void) => () => void;

/**
 * Calls `draw` with the element of the returned ref after new values, at most twice a second, and listens only while
 * the component is visible. `subscribe` must be a stable function.
 */
export function useLive<E extends HTMLElement>(subscribe: Subscribe, draw: (element: E) => void) {
  const element = useRef<E>(null);
  const latest = useRef(draw);
  latest.current = draw;
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return;
    const job = paintQueue.job(() => {
      if (element.current !== null) latest.current(element.current);
    });
    job.ask();
    const stop = subscribe(() => job.ask());
    return () => {
      stop();
      job.cancel();
    };
  }, [subscribe, visible]);
  return element;
}

/** Writes a text if it differs from the present one. */
export function write(element: Element | null | undefined, text: string): void {
  if (element !== null && element !== undefined && element.textContent !== text) element.textContent = text;
}

/** Writes texts into the elements below `root` that carry these names in `data-live`. */
export function writeAll(root: HTMLElement, texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) write(root.querySelector(`[data-live="${name}"]`), text);
}
