/**
 * Directions in which a queue of each menu counts and limits traffic. A queue of the tree does not distinguish
 * directions: it has one number for all its packets.
 */
export const QUEUE_DIRECTIONS = {
  '/queue/simple': ['upload', 'download'],
  '/queue/tree': ['any'],
} as const;

/** A menu whose rows are queues. */
export type QueueMenu = keyof typeof QUEUE_DIRECTIONS;

export const QUEUE_MENUS: readonly QueueMenu[] = ['/queue/simple', '/queue/tree'];

/** Whether queues of a menu have one number instead of one for each direction. */
export const hasOneDirection = (menu: string): boolean =>
  QUEUE_MENUS.some((each) => each === menu && QUEUE_DIRECTIONS[each].length === 1);
