/** How the content of a window asks to close it. */
import { createContext } from 'react';
import { leaveWindow } from './open.ts';

/** Closes a window, after a question when something in it is not stored. Given by whoever can ask. */
export const Leave = createContext<(id: string) => void>(leaveWindow);
