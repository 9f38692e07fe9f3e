import { createContext } from 'react';

/** Id of the window around a component; empty outside of windows. */
export const WindowId = createContext('');
