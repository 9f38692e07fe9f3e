/** Components whose code is a file of its own: it is fetched when one is first drawn, or before that when there is time. */
import { type ComponentType, createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react';

/** Called when code that was waited for has come and is drawn: what is around may have to fit it, or give it the focus. */
export const OnLoaded = createContext<() => void>(() => {});

/** A component whose code may not be there yet; {@link Lazy} draws it. */
export class LazyComponent<P extends object> {
  /** Fetch functions of components whose code could not be fetched; one retry calls all of them. */
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

  /** The component once its code is there. */
  readonly state = (): 'absent' | 'failed' | ComponentType<P> => this.#state;

  /** Fetches the code, also after a failure. Never rejects: a failure is a state, which is shown in place of the component. */
  readonly preload = (): Promise<void> => {
    if (typeof this.#state !== 'string') return Promise.resolve();
    this.#fetching ??= this.#fetch();
    return this.#fetching;
  };

  /** Fetches all code that did not come: of a window's parts more than one may be missing. */
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

/** Draws a component once its code is there; until then a note, and where it cannot be fetched, why and a retry. */
export function Lazy<P extends object>({ component, props }: Props<P>) {
  const state = useSyncExternalStore(component.subscribe, component.state);
  const arrived = useContext(OnLoaded);
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
      <p className="loading-note" role="status">
        Loading
      </p>
    );
  }
  const Component = state;
  return <Component {...props} />;
}
