import type { ReactNode } from 'react';

interface Props {
  readonly title: string;
  /** Address of the window with the details. */
  readonly opens: string;
  /** Place in the dashboard, a grid area. */
  readonly area: string;
  readonly children: ReactNode;
}

/** One tile of the dashboard. Its title opens the window with the details. */
export function Tile({ title, opens, area, children }: Props) {
  return (
    <section className="tile" style={{ gridArea: area }} aria-label={title}>
      <h3>
        <a href={opens}>{title}</a>
      </h3>
      {children}
    </section>
  );
}
