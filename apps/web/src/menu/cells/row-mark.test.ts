import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { markColumn, rowMark } from './row-mark.ts';

const queues = menuByPath('/queue/simple');
const addresses = menuByPath('/ip/address');
const rules = menuByPath('/ip/firewall/filter');
if (queues === undefined || rules === undefined || addresses === undefined) throw new Error('menus are missing');

const queue = (rate: string, part: object = {}) => ({ '.id': '*1', 'max-limit': '20000000/10000000', rate, ...part });

test('the fuller direction counts', () => {
  expect(rowMark(queues, queue('0/0'))).toEqual({ load: 'low', hinted: false, title: '0% of max limit (upload)' });
  expect(rowMark(queues, queue('10000000/5000000'))).toMatchObject({ load: 'low' });
  expect(rowMark(queues, queue('0/5000001'))).toEqual({
    load: 'middle',
    hinted: false,
    title: '50% of max limit (download)',
  });
  expect(rowMark(queues, queue('15000001/0'))).toMatchObject({ load: 'high' });
  expect(rowMark(queues, queue('20100000/0'))).toEqual({
    load: 'high',
    hinted: false,
    title: '100% of max limit (upload)',
  });
});

test('without a limit, or out of use, there is nothing to compare', () => {
  expect(rowMark(queues, queue('5/5', { 'max-limit': '0/0' }))).toMatchObject({ load: 'none' });
  expect(rowMark(queues, queue('15000001/0', { disabled: 'true' }))).toMatchObject({ load: 'none' });
  expect(rowMark(queues, queue('0/9000000', { 'max-limit': '0/10000000' }))).toMatchObject({ load: 'high' });
  expect(rowMark(rules, { '.id': '*1' })).toBeUndefined();
});

test('a node of a queue tree has one rate; a hint is reported with the load', () => {
  const tree = { ...queues, path: '/queue/tree' };
  expect(rowMark(tree, { '.id': '*1', 'max-limit': '1000', rate: '600', hint: 'no effect' })).toEqual({
    load: 'middle',
    hinted: true,
    title: '60% of max limit\nHint: no effect',
  });
});

test('an item that is no queue is marked where there is a hint', () => {
  const address = { '.id': '*1', address: '10.0.0.1/32' };
  expect(markColumn(addresses)).toBe('address');
  expect(rowMark(addresses, address)).toEqual({ load: 'absent', hinted: false, title: '' });
  const hinted = { load: 'absent', hinted: true, title: 'Hint: no network' };
  expect(rowMark(addresses, { ...address, hint: 'no network' })).toEqual(hinted);
});
