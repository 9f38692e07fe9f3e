/** Context by which a form notifies its frame that it may need more space, e.g. for another tab or an error. */
import { createContext } from 'react';

export const ResizeRequest = createContext<() => void>(() => undefined);
