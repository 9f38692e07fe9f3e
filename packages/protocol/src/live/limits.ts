/** What both ends of a WebSocket keep to. Nothing but constants: browsers load it. */

/** Close code for a session that is over (RFC 6455 §7.4.2, private use). */
export const SESSION_OVER = 4401;
/** Most rows of a window. */
export const MAX_COUNT = 1000;
/** Most queues of which the milliseconds are told at a time. */
export const MAX_SCOPES = 4;
