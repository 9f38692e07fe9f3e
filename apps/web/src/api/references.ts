/** Choices for properties that name items of other menus. */
import type { Kind } from '@tollway/schema';
import { useCallback, useState } from 'react';
import { request } from './rest.ts';

/** Most choices that a list offers; beyond that one types. */
const MOST = 500;

async function namesIn(menu: string, prop: string): Promise<readonly string[]> {
  const search = new URLSearchParams({ menu, property: prop });
  const values = await request('GET', `/api/v1/values?${search}`);
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}

/** True when there are choices for a kind. */
export function suggests({ values, also, ref }: Kind): boolean {
  return (values ?? []).length + (also ?? []).length + (ref ?? []).length > 0;
}

/** Words of the kind itself. */
function fixedOptions(kind: Kind | undefined): readonly string[] {
  return [...(kind?.values ?? []), ...(kind?.also ?? [])];
}

/** The choices for a kind; call `load` when they are about to be shown. */
export function useOptions(kind: Kind | undefined): { options: readonly string[]; load: () => void } {
  const [found, setFound] = useState<readonly string[]>([]);
  const load = useCallback(() => {
    const references = kind?.ref ?? [];
    if (references.length === 0) return;
    Promise.all(references.map(({ menu, prop }) => namesIn(menu, prop)))
      .then((lists) => setFound(lists.flat()))
      .catch(() => {
        // Without the list the field still takes what is typed.
      });
  }, [kind]);
  return { options: [...new Set([...fixedOptions(kind), ...found])].slice(0, MOST), load };
}
