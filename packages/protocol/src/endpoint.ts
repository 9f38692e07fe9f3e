import type { ObjectSchema, Schema } from './data.js';

/** A route of `/api/v1`: its parameters, body and responses. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Path as Fastify takes it: `/api/v1/revisions/:revision`. */
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  readonly description?: string;
  /** Reachable without a login. */
  readonly public?: boolean;
  /** Parts of the path. */
  readonly params?: ObjectSchema;
  readonly query?: ObjectSchema;
  readonly body?: ObjectSchema;
  /** Body of a success; absent for one without a body (204). */
  readonly answer?: Schema;
  /** Other media types of a success. */
  readonly alsoAs?: readonly string[];
}
