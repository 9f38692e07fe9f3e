import type { TabExtras } from '../../menu/form-tabs.ts';
import { LazyComponent } from '../../ui/lazy-component.tsx';

const tabs: TabExtras = {
  Traffic: { content: new LazyComponent(async () => (await import('./InterfaceGraphs.tsx')).InterfaceGraphs) },
};

export default tabs;
