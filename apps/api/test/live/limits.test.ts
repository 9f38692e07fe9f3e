import { MAX_TOKEN_BUCKETS } from '@tollway/dataplane-agent/records';
import * as limits from '@tollway/protocol/live/limits';
import { expect, it } from 'vitest';

it('browsers keep the milliseconds of as many queues as the data plane notes them of', () => {
  expect(limits.MAX_TOKEN_BUCKETS).toBe(MAX_TOKEN_BUCKETS);
});
