import type { ProfileUpdate } from '@tollway/protocol/live/profile';
import type { LiveState } from '../state/live-state.js';
import {
  handedOver,
  outOfOrder,
  type ProfileReading,
  profileRows,
  ratePerSecond,
  readProfile,
} from '../state/profile.js';

/** Source of the topic `profile`: the profile of each core over the time between two calls of `take`. */
export class ProfileSource {
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
    const rows = profileRows(before, reading, 'all');
    if (rows.length === 0) return undefined;
    const rate = (count: typeof handedOver) => ratePerSecond(count, before, reading);
    return { rows, handovers: rate(handedOver), outOfOrder: rate(outOfOrder) };
  }
}
