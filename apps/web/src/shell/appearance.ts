/** Theme and density, remembered in this browser. */
import { create } from 'zustand';
import { readStored, writeStored } from '../ui/browser-storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
export const DENSITIES = ['compact', 'normal', 'touch'] as const;
type Density = (typeof DENSITIES)[number];

interface Appearance {
  readonly theme: Theme;
  readonly density: Density;
}

const NAME = 'appearance';

function stored(): Appearance {
  let raw: unknown;
  try {
    raw = JSON.parse(readStored(NAME) ?? '{}');
  } catch {
    raw = {};
  }
  const fields: { theme?: unknown; density?: unknown } = typeof raw === 'object' && raw !== null ? raw : {};
  return {
    theme: THEMES.find((theme) => theme === fields.theme) ?? 'system',
    density:
      DENSITIES.find((density) => density === fields.density) ??
      (window.matchMedia('(pointer: coarse)').matches ? 'touch' : 'normal'),
  };
}

export const useAppearance = create<Appearance>(() => stored());

function show({ theme, density }: Appearance): void {
  document.documentElement.dataset.theme = theme;
  document.documentElement.dataset.density = density;
}

/** Changes theme or density and remembers it. */
export function setAppearance(part: Partial<Appearance>): void {
  const next = { ...useAppearance.getState(), ...part };
  useAppearance.setState(next);
  show(next);
  writeStored(NAME, JSON.stringify(next));
}

/** Applies the remembered appearance; before the first paint. */
export function applyAppearance(): void {
  show(useAppearance.getState());
}
