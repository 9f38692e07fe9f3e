import type { Menu } from '@tollway/schema';
import { useId, useRef, useState } from 'react';
import { useOptions } from '../api/references.ts';
import { AskDialog } from '../ui/AskDialog.tsx';
import { Combo } from '../ui/Combo.tsx';
import { messageOf } from '../ui/message-of.ts';
import { notifyStaysOpen } from './form-toasts.ts';
import { changeParent, type ReparentedItems } from './parents.ts';
import { rootParent } from './tree.ts';

interface Props {
  readonly menu: Menu;
  readonly moved: ReparentedItems;
  readonly onClose: () => void;
}

/** The small dialog that asks for the new parent of the selected items. */
export function ParentDialog({ menu, moved, onClose }: Props) {
  const { rows } = moved;
  const id = useId();
  const [parent, setParent] = useState(rows[0]?.parent ?? rootParent(menu));
  const [wrong, setWrong] = useState('');
  const { options, load } = useOptions(menu.props.parent?.kind);
  const own = new Set(rows.map((row) => row.name));
  const latest = useRef(parent);
  latest.current = parent;
  function answer() {
    changeParent(menu, moved, parent).then(
      () => {
        // The dialog stays open, as text that was typed after the request is not stored.
        if (latest.current === parent) onClose();
        else notifyStaysOpen();
      },
      (error: unknown) => setWrong(messageOf(error)),
    );
  }
  return (
    <AskDialog title="Set Parent" onAnswer={answer} onClose={onClose}>
      <Combo
        id={`${id}-parent`}
        label="Parent"
        value={parent}
        options={options.filter((option) => !own.has(option))}
        invalid={wrong !== ''}
        describedBy={wrong === '' ? undefined : `${id}-wrong`}
        onOpen={load}
        onChange={(value) => {
          setParent(value);
          setWrong('');
        }}
      />
      {wrong !== '' && (
        <p id={`${id}-wrong`} className="field-error" role="alert">
          {wrong}
        </p>
      )}
    </AskDialog>
  );
}
