import type { Prop } from '@tollway/schema';

/** Properties of every control of a form. */
export interface ControlProps {
  readonly id: string;
  readonly prop: Prop;
  /** Value without the leading `!`. */
  readonly value: string;
  readonly disabled: boolean;
  readonly invalid: boolean;
  readonly describedBy: string | undefined;
  readonly onChange: (value: string) => void;
}
