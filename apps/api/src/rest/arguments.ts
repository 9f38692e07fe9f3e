import type { Arguments } from '../config/content.js';
import { errors } from '../errors.js';

/** @throws ApiError for the first argument that the command does not know. */
export function checkArguments(args: Arguments, allowed: readonly string[]): void {
  for (const name of Object.keys(args)) if (!allowed.includes(name)) throw errors.unknownParameter(name);
}

/** A switch of a command: on for any value but `false` and `no` once it is named. */
export function switchedOn(args: Arguments, name: string): boolean {
  const value = args[name];
  return value !== undefined && value !== false && value !== 'false' && value !== 'no';
}
