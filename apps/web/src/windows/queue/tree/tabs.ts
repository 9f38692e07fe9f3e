import { queueTabs } from '../queue-tabs.ts';

export default queueTabs;
