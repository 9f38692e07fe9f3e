import { type ReactNode, useLayoutEffect, useRef } from 'react';

interface Props {
  readonly running: boolean;
  readonly onStart: () => void;
  readonly onStop: () => void;
  /** Content between the buttons and the state. */
  readonly children: ReactNode;
}

/** Buttons to start and stop a tool, and its state. */
export function RunControls({ running, onStart, onStop, children }: Props) {
  const start = useRef<HTMLButtonElement>(null);
  const stop = useRef<HTMLButtonElement>(null);
  // The pressed button becomes disabled: the other one takes the keyboard focus.
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
