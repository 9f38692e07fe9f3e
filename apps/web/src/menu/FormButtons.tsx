import type { Menu } from '@tollway/schema';
import { useState } from 'react';
import { actsOnAll, commandLabel, specialCommands } from './actions.ts';

interface Props {
  readonly menu: Menu;
  readonly isNew: boolean;
  /** Reason why the item cannot be changed. */
  readonly locked: string | undefined;
  /** Reason why the item cannot be removed. */
  readonly kept: string | undefined;
  /** True while a request is pending. */
  readonly busy: boolean;
  readonly disabled: boolean;
  /** True when the item no longer exists: it can only be added again. */
  readonly gone: boolean;
  readonly onClose: () => void;
  readonly onApply: () => void;
  /** Disables the item, or enables it. */
  readonly onDisable: (disable: boolean) => void;
  readonly onComment: () => void;
  readonly onCopy: () => void;
  readonly onRemove: () => void;
  readonly onCommand: (command: string) => void;
}

/** The buttons of a dialog, in the order that RouterOS users know. */
export function FormButtons(props: Props) {
  const { menu, isNew, locked, busy } = props;
  const has = (command: string) => menu.commands.has(command);
  const commands = isNew ? [] : specialCommands(menu).filter((command) => !actsOnAll(menu, command));
  const fixed = locked !== undefined;
  if (props.gone) {
    return (
      <div className="form-buttons">
        {has('add') && !fixed && (
          <button type="submit" className="button button-primary">
            Add as New
          </button>
        )}
        <Button label="Close" onPress={props.onClose} />
      </div>
    );
  }
  return (
    <div className="form-buttons">
      <button type="submit" className="button button-primary" aria-disabled={busy}>
        OK
      </button>
      {!fixed && (
        <>
          <Button label="Cancel" onPress={props.onClose} />
          <Button label="Apply" busy={busy} onPress={props.onApply} />
          <hr />
        </>
      )}
      {has('disable') && menu.props.disabled !== undefined && (
        <DisableButton disabled={props.disabled} fixed={fixed} reason={locked} onPress={props.onDisable} />
      )}
      {has('comment') && <Button label="Comment" disabled={fixed} reason={locked} onPress={props.onComment} />}
      {!isNew && has('add') && <Button label="Copy" onPress={props.onCopy} />}
      {!isNew && has('remove') && (
        <Button label="Remove" disabled={props.kept !== undefined} reason={props.kept} onPress={props.onRemove} />
      )}
      {commands.map((command) => (
        <Button key={command} label={commandLabel(command)} onPress={() => props.onCommand(command)} />
      ))}
    </div>
  );
}

interface DisableProps {
  readonly disabled: boolean;
  readonly fixed: boolean;
  readonly reason: string | undefined;
  readonly onPress: (disable: boolean) => void;
}

/** Keeps its label while the pointer is on it: a change by another user must not reverse the effect of a click. */
function DisableButton({ disabled, fixed, reason, onPress }: DisableProps) {
  const [held, setHeld] = useState<boolean>();
  const disables = !(held ?? disabled);
  return (
    <button
      type="button"
      className="button"
      disabled={fixed}
      title={fixed ? reason : undefined}
      onPointerEnter={() => setHeld(disabled)}
      onPointerLeave={() => setHeld(undefined)}
      onClick={({ detail }) => {
        // The second click of a double click would undo the first.
        if (detail > 1) return;
        if (held !== undefined) setHeld(disables);
        onPress(disables);
      }}
    >
      {disables ? 'Disable' : 'Enable'}
    </button>
  );
}

interface ButtonProps {
  readonly label: string;
  readonly disabled?: boolean;
  /** Temporarily disabled: it keeps the focus. */
  readonly busy?: boolean;
  /** Reason why it is disabled, for a tooltip. */
  readonly reason?: string | undefined;
  readonly onPress: () => void;
}

function Button({ label, disabled = false, busy = false, reason, onPress }: ButtonProps) {
  return (
    <button
      type="button"
      className="button"
      disabled={disabled}
      aria-disabled={busy || undefined}
      title={disabled ? reason : undefined}
      onClick={({ detail }) => {
        // The second click of a double click is ignored.
        if (detail < 2) onPress();
      }}
    >
      {label}
    </button>
  );
}
