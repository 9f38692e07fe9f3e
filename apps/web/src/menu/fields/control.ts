/** Control that edits a kind. */
import type { Editor, Prop } from '@tollway/schema';
import type { ComponentType } from 'react';
import { suggests } from '../../api/references.ts';
import { CheckField } from './CheckField.tsx';
import { ComboField } from './ComboField.tsx';
import type { ControlProps } from './control-props.ts';
import { ListField } from './ListField.tsx';
import { SecretField } from './SecretField.tsx';
import { SelectField } from './SelectField.tsx';
import { SetField } from './SetField.tsx';
import { TextField } from './TextField.tsx';
import { TriSetField } from './TriSetField.tsx';

interface Choice {
  readonly Control: ComponentType<ControlProps>;
  /** True when the control consists of several controls under one label. */
  readonly group: boolean;
}

const TEXT: Choice = { Control: TextField, group: false };
const COMBO: Choice = { Control: ComboField, group: false };
const SECRET: Choice = { Control: SecretField, group: false };

const BY_EDITOR: Readonly<Record<Editor, Choice>> = {
  check: { Control: CheckField, group: false },
  select: { Control: SelectField, group: false },
  set: { Control: SetField, group: true },
  'tri-set': { Control: TriSetField, group: true },
  list: { Control: ListField, group: true },
  number: TEXT,
};

/** The control of a property: the one of its kind, or a text field, with suggestions if there are some. */
export function control({ secret, kind }: Prop): Choice {
  if (secret === true) return SECRET;
  const own = kind.editor === undefined ? TEXT : BY_EDITOR[kind.editor];
  return own === TEXT && suggests(kind) ? COMBO : own;
}
