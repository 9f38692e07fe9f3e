import { createContext } from 'react';

/** Whether the router does not answer at the moment: what is being loaded then will not come soon. */
export const WithoutAnswer = createContext(false);

/** Text that stands for what has not come from the router yet. */
export function loadingText(withoutAnswer: boolean): string {
  return withoutAnswer ? 'Nothing comes from the router now; trying again.' : 'Loading';
}
