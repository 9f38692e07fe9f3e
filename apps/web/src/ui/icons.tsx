/** Line icons, 16 × 16, in the colour of the text. Decorative: the control that contains one has the name. */
import type { ReactNode } from 'react';

const PATHS = {
  add: <path d="M8 3v10M3 8h10" />,
  remove: <path d="M3 8h10" />,
  enable: <path d="M3 8.5 6.5 12 13 4.5" />,
  disable: <path d="m4 4 8 8M12 4l-8 8" />,
  comment: <path d="M3 3.5h10v7H7L4.5 13v-2.5H3z" />,
  filter: <path d="M2.5 3.5h11L9.5 8.5v4l-3-1.5V8.5z" />,
  up: <path d="M8 12.5v-9M4.5 7 8 3.5 11.5 7" />,
  down: <path d="M8 3.5v9M4.5 9 8 12.5 11.5 9" />,
  columns: <path d="M2.5 3.5h11v9h-11zM6.2 3.5v9M9.8 3.5v9" />,
  more: <path d="M8 3.6v.01M8 8v.01M8 12.4v.01" strokeWidth="2.4" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  fold: <path d="m4.5 9.5 3.5-3.5 3.5 3.5" />,
  unfold: <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />,
  minimise: <path d="M4 11.5h8" />,
  maximise: <path d="M3.5 3.5h9v9h-9z" />,
  restore: <path d="M3.5 6h6.5v6.5H3.5zM6.5 6V3.5h6V10H10" />,
  back: <path d="M9.5 3.5 5 8l4.5 4.5" />,
  windows: <path d="M2.5 2.5h7v6h-7zM6.5 10.5v3h7v-7h-2" />,
  dots: <path d="M4 5.5h8M4 8h8M4 10.5h5" />,
  tree: <path d="M3.5 2.5v9.5h4M3.5 6h4M9.5 4.5h4v3h-4zM9.5 10.5h4v3h-4z" />,
  search: <path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2" />,
  user: <path d="M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3.5 13.5c.5-2.5 2.2-3.7 4.5-3.7s4 1.2 4.5 3.7" />,
} as const satisfies Record<string, ReactNode>;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {PATHS[name]}
    </svg>
  );
}
