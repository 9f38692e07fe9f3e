/** Limits of the WebSocket. Constants only, as the browser loads this module. */

/** Close code for an expired session (RFC 6455 §7.4.2, private use). */
export const SESSION_OVER = 4401;
/** Maximum number of rows in the result of a query. */
export const MAX_ROWS = 1000;
/** Maximum number of queues that the data plane samples at a time. */
export const MAX_TOKEN_BUCKETS = 4;
