import type { Menu } from '@tollway/schema';

/** Meaning of the letters in the first column. */
export function FlagLegend({ menu }: { readonly menu: Menu }) {
  return (
    <dl className="flag-legend" aria-label="Flags">
      {menu.flags.map(({ letter, title }) => (
        <div key={letter}>
          <dt>{letter}</dt>
          <dd>{title}</dd>
        </div>
      ))}
    </dl>
  );
}
