import { hash, verify } from '@node-rs/argon2';
import { MAX_PASSWORD } from '@tollway/protocol/session';
import { errors } from '../errors.js';
import { isCommonPassword } from './common-passwords.js';

/** Hashes computed at the same time: each takes a core and 19 MiB for some 30 ms. */
const AT_ONCE = 2;
/**
 * Maximum number of hashes that wait: more than the logins that may fail at once, from the network and from this
 * machine.
 */
const MAX_WAITING = 192;

let running = 0;
const waiting: (() => void)[] = [];

/** Runs `work` when fewer than {@link AT_ONCE} hashes are being computed. @throws ApiError 429 when too many wait. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE) running += 1;
  else {
    if (waiting.length >= MAX_WAITING) throw errors.tooManyAttempts(1);
    // The caller that finishes hands its slot to the next one in the queue.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

/** Common words for a router, its administrator or a password, with some digits: attackers try them first. */
const USUAL =
  /^(admin(istrator)?|root|super(user|visor)?|user|guest|router|gateway|tollway|p[a@]ss(w[o0]rd)?|welcome|changeme|letmein|default)[\d!@#$._-]{0,4}$/i;

/** A text that says why the password cannot be used, or undefined. */
export function refusePassword(password: string): string | undefined {
  if (password.length < 8) return 'password: give at least 8 characters';
  if (Buffer.byteLength(password) > MAX_PASSWORD) return `password is longer than ${MAX_PASSWORD} bytes`;
  // Passwords of blanks are refused, too: they are tried early.
  if (new Set(password.trim() === '' ? ' ' : password).size === 1) {
    return 'password: one character again and again is guessed too easily; give different ones';
  }
  if (isCommonPassword(password) || USUAL.test(password))
    return 'password: this is one of the most common passwords; give another';
  return undefined;
}

/** argon2id in PHC form, with the library's parameters (19 MiB, 2 passes: OWASP's first choice). */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password));
}

let dummy: Promise<string> | undefined;

/** Takes as long for an unknown user or one without a password as for a wrong password. */
export async function verifyPassword(stored: string | undefined, password: string): Promise<boolean> {
  if (Buffer.byteLength(password) > MAX_PASSWORD) return false;
  dummy ??= hashPassword('the hash of no user');
  const against = stored ?? (await dummy);
  // An invalid hash matches no password.
  const matches = await inTurn(() => verify(against, password).catch(() => false));
  return matches && stored !== undefined;
}
