/** Callback of a window's content that asks to close it. */
import { createContext } from 'react';
import { closeWindow } from './navigation.ts';

/** Closes a window, after a question if it has unsaved input. Set by the component that shows the question. */
export const CloseRequest = createContext<(id: string) => void>(closeWindow);
