/** Choices for properties that name items of other menus. */
import type { values } from '@tollway/protocol/values';
import type { Kind } from '@tollway/schema';
import { useMemo, useState } from 'react';
import { ask } from './rest.ts';

/** Maximum number of choices in a list; others must be typed. */
const MAX_OPTIONS = 500;

async function namesIn(menu: string, prop: string): Promise<readonly string[]> {
  const search = new URLSearchParams({ menu, property: prop });
  return ask<typeof values>('GET', `/api/v1/values?${search}`);
}

/** True when there are choices for a kind. */
export function suggests({ values, keywords, ref }: Kind): boolean {
  return (values ?? []).length + (keywords ?? []).length + (ref ?? []).length > 0;
}

/** Fixed values and keywords of the kind. */
function fixedOptions(kind: Kind | undefined): readonly string[] {
  return [...(kind?.values ?? []), ...(kind?.keywords ?? [])];
}

/**
 * Returns a function that requests the names for a kind and passes them to `take`. While a request is pending it is not
 * repeated, as several events may announce that a list is about to open.
 */
export function nameLoader(kind: Kind | undefined, take: (names: readonly string[]) => void): () => void {
  const references = kind?.ref ?? [];
  let asked = false;
  return () => {
    if (asked || references.length === 0) return;
    asked = true;
    Promise.all(references.map(({ menu, prop }) => namesIn(menu, prop)))
      .then((lists) => take(lists.flat()))
      .catch(() => {
        // Without a list the field still accepts typed text.
      })
      .finally(() => {
        asked = false;
      });
  };
}

const same = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name, at) => name === other[at]);

/** The choices for a kind; call `load` whenever they are about to be shown. */
export function useOptions(kind: Kind | undefined): { options: readonly string[]; load: () => void } {
  const [found, setFound] = useState<{ readonly kind: Kind | undefined; readonly names: readonly string[] }>();
  const load = useMemo(
    () =>
      // An open list is rendered again only if the names have changed.
      nameLoader(kind, (names) =>
        setFound((now) => (now?.kind === kind && same(now?.names ?? [], names) ? now : { kind, names })),
      ),
    [kind],
  );
  // The loaded names may belong to the previous kind.
  const names = found?.kind === kind ? (found?.names ?? []) : [];
  return { options: [...new Set([...fixedOptions(kind), ...names])].slice(0, MAX_OPTIONS), load };
}
