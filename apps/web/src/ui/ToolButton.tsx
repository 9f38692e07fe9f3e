import type { MouseEvent } from 'react';
import { Icon, type IconName } from './icons.tsx';

interface Props {
  readonly name: string;
  readonly icon?: IconName;
  /** Shown after the name, e.g. `Ctrl+E`. */
  readonly shortcut?: string;
  /** Reason why the button cannot be used now; undefined when it can. */
  readonly disabledReason?: string | undefined;
  readonly pressed?: boolean;
  readonly onPress: (event: MouseEvent) => void;
}

/** A button of a toolbar: an icon with a name, or only the name. */
export function ToolButton({ name, icon, shortcut, disabledReason, pressed, onPress }: Props) {
  const hint = shortcut === undefined ? name : `${name} (${shortcut})`;
  return (
    <button
      type="button"
      className={icon === undefined ? 'tool tool-text' : 'tool'}
      aria-label={name}
      aria-pressed={pressed}
      title={disabledReason === undefined ? hint : `${hint}: ${disabledReason}`}
      disabled={disabledReason !== undefined}
      onClick={onPress}
    >
      {icon === undefined ? name : <Icon name={icon} />}
    </button>
  );
}
