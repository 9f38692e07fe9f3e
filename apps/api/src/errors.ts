import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from '@tollway/protocol/errors';

/** An answer other than success. Everything a client may see is in it. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly detail?: string,
    readonly property?: string,
    /** Time after which a retry makes sense, seconds. */
    readonly retryAfterS?: number,
    /** Configuration row at fault, where the data plane named one. */
    readonly row?: number,
  ) {
    super(detail ?? STATUS_CODES[status] ?? String(status));
    this.name = 'ApiError';
  }

  body(): ErrorBody {
    return errorBody(this.status, this.detail, this.property);
  }
}

export function errorBody(status: number, detail?: string, property?: string): ErrorBody {
  return {
    error: status,
    message: STATUS_CODES[status] ?? 'Error',
    ...(detail !== undefined && { detail }),
    ...(property !== undefined && { property }),
  };
}

/** Message of a thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Errors that are not about a property's value, with their status codes. Texts about values come from the kind's
 * `parse` (packages/schema/src/props).
 */
export const errors = {
  /** A property's value is refused. `reason` names the property and what it accepts. */
  badProperty: (property: string, reason: string) => new ApiError(400, reason, property),
  unknownParameter: (property: string) => new ApiError(400, `unknown parameter ${property}`, property),
  missingProperty: (property: string, accepts: string) =>
    new ApiError(400, `missing value of ${property}: ${accepts}`, property),
  badRequest: (detail: string) => new ApiError(400, detail),
  failure: (detail: string, property?: string) => new ApiError(400, `failure: ${detail}`, property),
  /** The data plane refuses a configuration because of a row. */
  refusedRow: (row: number, detail: string) => new ApiError(400, `failure: ${detail}`, undefined, undefined, row),
  /** Error in one element of a list that is added as a whole. */
  inElement: (index: number, { status, detail, message, property }: ApiError) =>
    new ApiError(status, `element ${index}: ${detail ?? message}`, property),
  bodyTooLarge: (limit: number) =>
    new ApiError(413, `the body is larger than ${limit >= 1 << 20 ? `${limit >> 20} MiB` : `${limit >> 10} KiB`}`),
  bodyTooSlow: (ms: number) => new ApiError(408, `the body did not come within ${ms / 1000} s`),
  unsupportedMediaType: () =>
    new ApiError(415, 'the body must be JSON in UTF-8, not encoded, with the header Content-Type: application/json'),
  misdirected: (detail: string) => new ApiError(421, detail),
  unauthorized: () => new ApiError(401),
  notEnoughPermissions: () => new ApiError(403, 'not enough permissions'),
  forbiddenOrigin: (detail: string) => new ApiError(403, detail),
  noSuchItem: () => new ApiError(404),
  noSuchMenu: (word: string) => new ApiError(404, `no such command or directory (${word})`),
  noSuchCommand: (word: string) => new ApiError(400, `no such command or directory (${word})`),
  verbWithoutCommand: (word: string) => new ApiError(406, `no such command or directory (${word})`),
  upgradeRequired: () => new ApiError(426, 'this address takes WebSockets only'),
  tooManyTraces: () => new ApiError(429, 'failure: as many traces run already as can be: end one first'),
  tooManyAttempts: (waitS: number) => {
    const seconds = Math.max(1, Math.ceil(waitS));
    return new ApiError(429, `too many failed logins; try again in ${seconds} s`, undefined, seconds);
  },
  agentUnavailable: () =>
    new ApiError(503, 'failure: the data plane agent is not connected; nothing was changed, try again'),
  databaseBehind: (active: number, revision: number, remedy: string) =>
    new ApiError(503, `failure: the data plane runs revision ${active}, the database ends at ${revision}. ${remedy}`),
  databaseFault: (text: string) => new ApiError(503, `failure: ${text} Nothing was changed; forwarding goes on.`),
  logoutNotStored: () =>
    new ApiError(
      503,
      'you are logged out, but the database does not take it now: it is tried again; the session would only go on if the router ' +
        'restarted before it does',
    ),
  agentSilent: (ms: number) =>
    new ApiError(
      503,
      `failure: the data plane agent did not answer within ${Math.floor(ms / 1000)} s; nothing was changed, try again`,
    ),
  /** Stored items were removed, and dynamic ones may not have been. */
  dynamicLeft: () =>
    new ApiError(
      503,
      'failure: the data plane agent did not answer; the stored items were removed, of the dynamic ones some may be left',
    ),
  agentFault: (detail: string) => new ApiError(503, `failure: ${detail}; nothing was changed`),
  agentDied: () =>
    new ApiError(503, 'failure: the data plane agent ended while it prepared this change; nothing was changed'),
  stopping: () => new ApiError(503, 'failure: the router is stopping; nothing was changed'),
  busy: (ms: number) =>
    new ApiError(
      503,
      `failure: other changes have been under way for ${ms / 1000} s; nothing was changed, try again`,
      undefined,
      1,
    ),
} as const;
