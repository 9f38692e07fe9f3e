import { hash, verify } from '@node-rs/argon2';

/** Longest password, bytes: hashing cost must not be the caller's choice. */
export const MAX_PASSWORD = 1024;

/** A text that says why the password cannot be used, or undefined. */
export function refusePassword(password: string): string | undefined {
  if (password.length < 8) return 'password: give at least 8 characters';
  if (Buffer.byteLength(password) > MAX_PASSWORD) return `password is longer than ${MAX_PASSWORD} bytes`;
  return undefined;
}

/** argon2id in PHC form, with the library's parameters (19 MiB, 2 passes: OWASP's first choice). */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

let dummy: Promise<string> | undefined;

/** Takes as long for an unknown user or one without a password as for a wrong password. */
export async function verifyPassword(stored: string | undefined, password: string): Promise<boolean> {
  if (Buffer.byteLength(password) > MAX_PASSWORD) return false;
  dummy ??= hashPassword('the hash of no user');
  const matches = await verify(stored ?? (await dummy), password);
  return matches && stored !== undefined;
}
