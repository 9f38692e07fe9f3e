import { menuByPath } from '@tollway/schema';

/** Names of the items of a menu that always exist. */
export const builtinNames = (path: string): readonly string[] =>
  (menuByPath(path)?.builtin ?? []).flatMap(({ values }) => values.name ?? []);
