/** Message of a thrown value, for people. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
