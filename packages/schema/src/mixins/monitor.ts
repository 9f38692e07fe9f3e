import type { Argument } from '../menu.js';

/** Arguments of a monitor beside those that name what it looks at. */
export const monitorArguments: Readonly<Record<string, Argument>> = {
  once: { help: 'Answer with one sample at once.' },
  duration: { help: 'Take a sample each second for so long, at most a minute, and answer at the end.' },
  '.proplist': { help: 'Properties to send, as a list or comma list.' },
};
