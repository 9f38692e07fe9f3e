import type { Menu } from '@tollway/schema';
import type { ConfigSnapshot, Row } from './snapshot.js';

/** What is wrong with a request, for people; `property` is the field it belongs to. */
export interface FieldError {
  readonly property?: string;
  /** Names the property and what it accepts. */
  readonly detail: string;
}

/** A row in the making, as the checks of its menu see it. */
export interface Candidate {
  readonly menu: Menu;
  readonly values: Readonly<Record<string, string>>;
  /** Properties that the request names with a value. */
  readonly given: ReadonlySet<string>;
  /** The other rows of the menu. */
  readonly others: readonly Row[];
  readonly snapshot: ConfigSnapshot;
}

/** An error that belongs to a field. */
export const fault = (property: string, detail: string): FieldError => ({ property, detail });
