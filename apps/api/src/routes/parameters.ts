import { errors } from '../errors.js';

/** The query parameters of a request. @throws ApiError that names one that it does not take, or one that is given twice. */
export function parametersOf(url: string, taken: readonly string[]): URLSearchParams {
  const query = new URL(url, 'http://localhost').searchParams;
  for (const name of query.keys()) {
    if (!taken.includes(name)) throw errors.unknownParameter(name);
    if (query.getAll(name).length > 1) throw errors.badProperty(name, `${name} is given more than once`);
  }
  return query;
}
