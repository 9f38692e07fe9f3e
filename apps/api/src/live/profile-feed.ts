import type { Stats } from '../agent/messages.js';
import type { LiveState } from '../state/live-state.js';
import { type ProfileRow, profile } from '../state/profile.js';

/** Profile of each core over the time between two calls. */
export class ProfileFeed {
  readonly #live: LiveState;
  #before: Stats | undefined;

  constructor(live: LiveState) {
    this.#live = live;
  }

  async take(): Promise<readonly ProfileRow[] | undefined> {
    const stats = await this.#live.stats(500);
    const before = this.#before;
    this.#before = stats;
    if (stats === undefined || before === undefined || before.cores.length !== stats.cores.length) return undefined;
    const rows = profile(before, stats, 'all');
    return rows.length > 0 ? rows : undefined;
  }
}
