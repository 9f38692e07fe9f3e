import { expect, test } from 'vitest';
import { fileText } from './file-text.ts';

test.each([
  ['UTF-8', Buffer.from('zoë')],
  ['UTF-8 with a byte order mark', Buffer.from('\uFEFFzoë')],
  ['UTF-16', Buffer.from('\uFEFFzoë', 'utf16le')],
  ['UTF-16, the other way round', Buffer.from('\uFEFFzoë', 'utf16le').swap16()],
  ['Windows-1252', Buffer.from('zoë', 'latin1')],
])('%s', (_what, bytes) => {
  expect(fileText(bytes)).toBe('zoë');
});
