import type { ObjectSchema, Schema } from './data.js';

/** A route of `/api/v1`: its parameters, body and responses. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Path in the syntax of Fastify: `/api/v1/revisions/:revision`. */
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  readonly description?: string;
  /** Reachable without a login. */
  readonly public?: boolean;
  /** Parameters in the path. */
  readonly params?: ObjectSchema;
  readonly query?: ObjectSchema;
  readonly body?: ObjectSchema;
  /** Body of a successful response; absent for a response without a body (204). */
  readonly answer?: Schema;
  /** Further media types of a successful response. */
  readonly alsoAs?: readonly string[];
}
