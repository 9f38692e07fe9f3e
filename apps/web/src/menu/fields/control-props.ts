import type { Prop } from '@tollway/schema';

/** What every control of a form gets. */
export interface ControlProps {
  readonly id: string;
  readonly prop: Prop;
  /** Without the leading `!`. */
  readonly value: string;
  readonly disabled: boolean;
  readonly invalid: boolean;
  readonly describedBy: string | undefined;
  readonly onChange: (value: string) => void;
}
