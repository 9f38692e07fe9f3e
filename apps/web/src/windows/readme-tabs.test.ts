/** The README sends people to tabs: each one is there, in the window that it names. */
import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import text from '../../../../README.md?raw';
import { withExtraTabs } from '../menu/form-tabs.ts';
import { tabExtras } from './bespoke.ts';
import type { Tab } from './define-windows.ts';
import { windowDefinitions } from './window-definitions.ts';

const readme = text.replaceAll(/\s+/g, ' ');

/** A tab that a text names, and the list that its reader has before them: the one that was named last. */
interface Named {
  readonly tab: string;
  readonly list: string | undefined;
}

/** The tabs of a window in the tree, `IP ▸ Firewall` say, the one first that opens; `Interfaces ▸ Ethernet` names a tab. */
function tabsAt(place: string): readonly Tab[] {
  const window = windowDefinitions.find(({ tree }) => tree?.join(' ▸ ') === place);
  if (window !== undefined) return window.tabs;
  const around = windowDefinitions.find(
    ({ tree }) => tree?.join(' ▸ ') === place.split(' ▸ ').slice(0, -1).join(' ▸ '),
  );
  const tab = around?.tabs.find(({ label }) => label === place.split(' ▸ ').at(-1));
  return tab === undefined ? [] : [tab, ...(around?.tabs.filter((each) => each !== tab) ?? [])];
}

const MENTION = /\*\*(?<place>[^*]+)\*\*|\b[Tt]ab \*(?<after>[^*]+)\*|(?<!\*)\*(?<before>[^*]+)\* tab\b/g;

/** Tabs in a text: `tab *Name*` and `*Name* tab`, after the window in bold. */
function namedTabs(text: string): readonly Named[] {
  let tabs: readonly Tab[] = [];
  let list: string | undefined;
  const found: Named[] = [];
  for (const { groups: { place, after, before } = {} } of text.matchAll(MENTION)) {
    const tab = after ?? before;
    if (tab === undefined) {
      const there = tabsAt(place ?? '');
      // Buttons and words are bold, too.
      if (there.length > 0) [tabs, list] = [there, there[0]?.address];
    } else {
      list = tabs.find(({ label }) => label === tab)?.address ?? list;
      found.push({ tab, list });
    }
  }
  return found;
}

/** The tab of a list in its window, and those of the dialogs that open from it. */
function tabsOf(list: string): readonly string[] {
  const label = windowDefinitions.flatMap(({ tabs }) => tabs).find(({ address }) => address === list)?.label ?? '';
  return [label, ...withExtraTabs(menuByPath(list)?.tabs ?? [], tabExtras.get(list) ?? {})];
}

test('tabs are found in a text, with their lists', () => {
  const sentence = '**IP ▸ Firewall**, tab *NAT*, **+**: on the tab *Action*. **Queues** have a *Traffic* tab.';
  expect(namedTabs(sentence)).toEqual([
    { tab: 'NAT', list: '/ip/firewall/nat' },
    { tab: 'Action', list: '/ip/firewall/nat' },
    { tab: 'Traffic', list: '/queue/simple' },
  ]);
  expect(namedTabs('**Interfaces ▸ Ethernet**, tab *Status*')).toEqual([
    { tab: 'Status', list: '/interface/ethernet' },
  ]);
});

test('every tab that the README names is there', () => {
  const named = namedTabs(readme);
  const ofQueues = named.filter(({ list }) => list === '/queue/simple').map(({ tab }) => tab);
  expect(ofQueues).toEqual(expect.arrayContaining(['Simple Queues', 'Traffic', 'Statistics', 'Token Bucket']));
  for (const { tab, list } of named) expect(tabsOf(list ?? ''), `tab ${tab} of ${list}`).toContain(tab);
});
