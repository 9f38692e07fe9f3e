import { menuByPath } from '@tollway/schema';
import { describe, expect, it } from 'vitest';
import { indexOfItem } from '../../src/rest/listing.js';
import { StoredRows } from '../../src/view/stored-rows.js';

describe('an item', () => {
  it('is found by its name without the others being put together', () => {
    const menu = menuByPath('/queue/simple');
    if (menu === undefined) throw new Error('no such menu');
    const rows = ['a', 'b'].map((name, n) => ({ id: 256 + n, values: { name }, disabled: false, comment: '' }));
    const stored = new StoredRows(
      rows,
      () => {
        throw new Error('put together');
      },
      undefined,
      [{ '.id': '*1', name: 'made' }],
    );
    expect(['made', 'b', 'c', '*101'].map((item) => indexOfItem(menu, stored, item))).toEqual([0, 2, undefined, 2]);
  });
});
