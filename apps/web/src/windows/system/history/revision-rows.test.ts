import type { Revision } from '@tollway/protocol/revisions';
import { expect, test } from 'vitest';
import { foundRevisions, unknownUndo, upTo, whyNotUndone } from './revision-rows.ts';

const revision = (part: Partial<Revision>): Revision => ({
  revision: 7,
  author: 'ann',
  via: 'web',
  time: '2026-11-22T14:03:09.000Z',
  summary: 'set /queue/simple *18',
  rows: 1,
  undo: '',
  ...part,
});

test('why a revision has no Undo', () => {
  expect(whyNotUndone(revision({}), 'full')).toBe('');
  expect(whyNotUndone(revision({ undo: undefined }), 'write')).toBe('');
  expect(whyNotUndone(revision({ undo: 'the router made it itself' }), 'full')).toBe('the router made it itself');
  expect(whyNotUndone(revision({ 'undone-by': 9, undo: '/queue/simple a was changed' }), 'full')).toBe('undone by 9');
  // A change that was undone and then redone can be undone again.
  expect(whyNotUndone(revision({ 'undone-by': 9 }), 'full')).toBe('');
  expect(whyNotUndone(revision({}), 'read')).toMatch(/only look/);
});

test('an Undo that nobody has looked at says so', () => {
  expect(unknownUndo(revision({}))).toBe('');
  expect(unknownUndo(revision({ undo: undefined }))).toBe('not checked yet');
});

test('revisions are found by any words of theirs', () => {
  const all = [revision({}), revision({ revision: 8, author: 'bob', summary: 'remove /ip/address *3' })];
  expect(foundRevisions(all, '').length).toBe(2);
  expect(foundRevisions(all, 'ann simple').map(({ revision }) => revision)).toEqual([7]);
  expect(foundRevisions(all, 'remove 8').map(({ revision }) => revision)).toEqual([8]);
});

test('a list that is held shows nothing newer', () => {
  const all = [revision({ revision: 8 }), revision({})];
  expect(upTo(all, undefined)).toBe(all);
  expect(upTo(all, 7).map(({ revision }) => revision)).toEqual([7]);
});
