/** Limits of the WebSocket. Constants only, as the browser loads this module. */

/** Close code for an expired session (RFC 6455 §7.4.2, private use). */
export const SESSION_OVER = 4401;
/** Rows of a query at most. */
export const MAX_ROWS = 1000;
/** Queues that the data plane samples at a time at most. */
export const MAX_TOKEN_BUCKETS = 4;
