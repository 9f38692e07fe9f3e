import type { LiveState } from '../state/live-state.js';
import { type ProfileReading, type ProfileRow, profile, readProfile } from '../state/profile.js';

/** Profile of each core over the time between two calls. */
export class ProfileFeed {
  readonly #live: LiveState;
  #before: ProfileReading | undefined;

  constructor(live: LiveState) {
    this.#live = live;
  }

  async take(): Promise<readonly ProfileRow[] | undefined> {
    const reading = await readProfile(this.#live);
    const before = this.#before;
    this.#before = reading;
    if (reading?.stats.cores.length !== before?.stats.cores.length) return undefined;
    const rows = reading === undefined || before === undefined ? [] : profile(before, reading, 'all');
    return rows.length > 0 ? rows : undefined;
  }
}
