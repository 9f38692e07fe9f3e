import type { LiveState } from '../state/live-state.js';
import { handoverRate, type ProfileReading, type ProfileRow, profile, readProfile } from '../state/profile.js';

export interface ProfileUpdate {
  readonly rows: readonly ProfileRow[];
  /** Packets per second that workers give to others. */
  readonly handovers: number;
}

/** Profile of each core over the time between two calls. */
export class ProfileFeed {
  readonly #live: LiveState;
  #before: ProfileReading | undefined;

  constructor(live: LiveState) {
    this.#live = live;
  }

  async take(): Promise<ProfileUpdate | undefined> {
    const reading = await readProfile(this.#live);
    const before = this.#before;
    this.#before = reading;
    if (reading === undefined || before === undefined) return undefined;
    if (reading.stats.cores.length !== before.stats.cores.length) return undefined;
    const rows = profile(before, reading, 'all');
    return rows.length > 0 ? { rows, handovers: handoverRate(before, reading) } : undefined;
  }
}
