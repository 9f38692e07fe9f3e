import { type ReactNode, useLayoutEffect, useRef } from 'react';

interface Props {
  readonly running: boolean;
  readonly onStart: () => void;
  readonly onStop: () => void;
  /** Content between the buttons and the state. */
  readonly children: ReactNode;
}

/** Start and stop of a tool, and whether it runs. */
export function RunControls({ running, onStart, onStop, children }: Props) {
  const start = useRef<HTMLButtonElement>(null);
  const stop = useRef<HTMLButtonElement>(null);
  // The button that was pressed is switched off: the keyboard goes on at the other one.
  useLayoutEffect(() => {
    const [off, on] = running ? [start, stop] : [stop, start];
    if (document.activeElement === off.current) on.current?.focus();
  }, [running]);
  return (
    <>
      <button ref={start} type="button" className="button" disabled={running} onClick={onStart}>
        Start
      </button>
      <button ref={stop} type="button" className="button" disabled={!running} onClick={onStop}>
        Stop
      </button>
      {children}
      <span className="toolbar-note" role="status">
        {running ? 'Running' : 'Stopped'}
      </span>
    </>
  );
}
