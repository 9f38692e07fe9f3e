import type { QueueMenu } from '@tollway/protocol/queue-menus';
import type { QUEUE_FINDINGS } from '@tollway/schema';

export type Finding = (typeof QUEUE_FINDINGS)[number];

/** A setting of a queue that has no effect, or not the expected one. */
export interface QueueFinding {
  readonly menu: QueueMenu;
  /** Row id of the queue. */
  readonly row: number;
  readonly name: string;
  readonly property: string;
  readonly finding: Finding;
  /** Sentence for people: effect on the traffic, and remedy. */
  readonly message: string;
}
