/** Thrown and caught inside the compiler only: the row at hand cannot work. The message says why, for people. */
export class CannotWork extends Error {}
