/**
 * Components whose code is in a separate file: it is fetched when the component is first rendered, or earlier while the
 * browser is idle.
 */
import { type ComponentType, createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react';
import { loadingText, WithoutAnswer } from './loading-text.ts';

/**
 * Called when code has been loaded and rendered: the surroundings may have to adjust their size, or move the focus into
 * it.
 */
export const OnLoaded = createContext<() => void>(() => {});

/** A component whose code may not be loaded yet; {@link Lazy} renders it. */
export class LazyComponent<P extends object> {
  /** Fetch functions of components whose code could not be fetched; a retry calls all of them. */
  static readonly #failed = new Set<() => Promise<void>>();

  #state: 'absent' | 'failed' | ComponentType<P> = 'absent';
  #fetching: Promise<void> | undefined;
  readonly #listeners = new Set<() => void>();

  /** @param load imports the component, e.g. `async () => (await import('./Chart.tsx')).Chart` */
  constructor(private readonly load: () => Promise<ComponentType<P>>) {}

  /** Subscribes to changes of {@link state}. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The component, once its code is loaded; otherwise the state of loading. */
  readonly state = (): 'absent' | 'failed' | ComponentType<P> => this.#state;

  /**
   * Fetches the code, again after a failure. Never rejects: a failure is a state, which is shown instead of the
   * component.
   */
  readonly preload = (): Promise<void> => {
    if (typeof this.#state !== 'string') return Promise.resolve();
    this.#fetching ??= this.#fetch();
    return this.#fetching;
  };

  /** Fetches the code of all failed components again: a window may contain more than one. */
  static retry(): void {
    for (const fetch of [...LazyComponent.#failed]) void fetch();
  }

  async #fetch(): Promise<void> {
    if (this.#state === 'failed') this.#settle('absent');
    try {
      this.#settle(await this.load());
    } catch {
      this.#settle('failed');
    }
    this.#fetching = undefined;
  }

  #settle(state: 'absent' | 'failed' | ComponentType<P>): void {
    this.#state = state;
    if (state === 'failed') LazyComponent.#failed.add(this.preload);
    else LazyComponent.#failed.delete(this.preload);
    for (const listener of [...this.#listeners]) listener();
  }
}

interface Props<P extends object> {
  readonly component: LazyComponent<P>;
  /** Properties of the component. */
  readonly props: P;
}

/**
 * Renders a component once its code is loaded; until then a note, and after a failure the reason and a retry button.
 */
export function Lazy<P extends object>({ component, props }: Props<P>) {
  const state = useSyncExternalStore(component.subscribe, component.state);
  const arrived = useContext(OnLoaded);
  const withoutAnswer = useContext(WithoutAnswer);
  const waited = useRef(false);
  const isHere = typeof state !== 'string';
  useEffect(() => {
    if (isHere) {
      if (waited.current) arrived();
      waited.current = false;
      return;
    }
    waited.current = true;
    void component.preload();
  }, [isHere, component, arrived]);
  if (state === 'failed') {
    return (
      <div className="not-loaded" role="alert">
        <p>
          The router has not sent this part of the page. Try again; where that does not help, the router may have been
          updated: reload the page.
        </p>
        <button type="button" className="button" onClick={LazyComponent.retry}>
          Try again
        </button>
      </div>
    );
  }
  if (state === 'absent') {
    return (
      <p className={withoutAnswer ? 'not-loaded' : 'loading-note'} role="status">
        {loadingText(withoutAnswer)}
      </p>
    );
  }
  const Component = state;
  return <Component {...props} />;
}
