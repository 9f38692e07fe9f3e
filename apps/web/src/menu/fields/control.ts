/** Which control edits a kind. */
import type { Prop } from '@tollway/schema';
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
  /** The control is several controls under one label. */
  readonly group: boolean;
}

const BY_KIND: Readonly<Record<string, Choice>> = {
  bool: { Control: CheckField, group: false },
  enum: { Control: SelectField, group: false },
  set: { Control: SetField, group: true },
  'tri-set': { Control: TriSetField, group: true },
  'ref-list': { Control: ListField, group: true },
  'name-list': { Control: ListField, group: true },
  'queue-target-list': { Control: ListField, group: true },
};
const TEXT: Choice = { Control: TextField, group: false };
const COMBO: Choice = { Control: ComboField, group: false };
const SECRET: Choice = { Control: SecretField, group: false };

/** The control of a property: by its kind, else a list of suggestions where there are some, else a text. */
export function control(prop: Prop): Choice {
  if (prop.secret === true) return SECRET;
  const { kind } = prop;
  const known = BY_KIND[kind.name];
  if (known !== undefined) return known;
  return suggests(kind) ? COMBO : TEXT;
}
