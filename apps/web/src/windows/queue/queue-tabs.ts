import type { TabExtras } from '../../menu/form-tabs.ts';
import { LazyComponent } from '../../ui/lazy-component.tsx';

/** Tabs in dialogs of simple queues and of queues of a tree. */
export const queueTabs: TabExtras = {
  Traffic: {
    content: new LazyComponent(async () => (await import('./QueueGraphs.tsx')).QueueGraphs),
    after: 'Statistics',
  },
  'Token Bucket': {
    content: new LazyComponent(async () => (await import('./token-bucket/TokenBucket.tsx')).TokenBucket),
    after: 'Traffic',
  },
  Days: { content: new LazyComponent(async () => (await import('./accounting/QueueDays.tsx')).QueueDays) },
};
