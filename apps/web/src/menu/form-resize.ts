/** Context by which a form notifies the frame around it that it may need more room, e.g. on another tab or with an error. */
import { createContext } from 'react';

export const ResizeRequest = createContext<() => void>(() => undefined);
