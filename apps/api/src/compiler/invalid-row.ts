/** A row that cannot be compiled. Thrown and caught inside the compiler only; the message says why, for people. */
export class InvalidRow extends Error {}
