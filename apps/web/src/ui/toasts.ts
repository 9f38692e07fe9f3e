/** Short messages at the bottom of the page. */
import { create } from 'zustand';
import { messageOf } from './message-of.ts';

interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

interface Toast {
  readonly id: number;
  readonly kind: 'info' | 'error';
  readonly text: string;
  /** A message replaces an earlier one with the same key. */
  readonly key?: string;
  readonly action?: ToastAction;
  /** Alternative to the action. */
  readonly instead?: ToastAction;
  /** Remains until it is dismissed or replaced. */
  readonly stays?: boolean;
}

/** Time for which a message is shown, ms. */
const TOAST_MS = 10_000;

let nextId = 1;

export const useToasts = create<{ readonly toasts: readonly Toast[] }>(() => ({ toasts: [] }));

export function dismissToast(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}

/** Removes the message with a key. */
export function dismissKey(key: string): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.key !== key) }));
}

/** Shows a message, for 10 s unless it stays. */
export function showToast(toast: Omit<Toast, 'id'>): void {
  const id = nextId++;
  useToasts.setState(({ toasts }) => {
    const others = toasts.filter(({ key }) => key === undefined || key !== toast.key);
    return { toasts: [...others.slice(-2), { ...toast, id }] };
  });
  if (toast.stays !== true) setTimeout(() => dismissToast(id), TOAST_MS);
}

/** Shows an error message. */
export function showError(what: string, error: unknown): void {
  showToast({ kind: 'error', text: `${what}: ${messageOf(error)}` });
}
