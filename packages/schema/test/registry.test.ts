import { describe, expect, it } from 'vitest';
import type { Menu, Prop } from '../src/menu.js';
import { menuByPath, registry } from '../src/registry.js';
import { readFacts } from './facts.js';

const props = registry.flatMap((menu) =>
  Object.entries(menu.props).map(([name, prop]): [string, string, Prop, Menu] => [menu.path, name, prop, menu]),
);

describe('every menu', () => {
  it('has a path of its own, in the form of a RouterOS path', () => {
    expect(new Set(registry.map(({ path }) => path)).size).toBe(registry.length);
    for (const { path } of registry) expect(path).toMatch(/^(\/[a-z0-9]+(-[a-z0-9]+)*)+$/);
  });

  it.each(registry.map((menu) => [menu.path, menu] as const))('%s is complete', (path, menu) => {
    expect(menuByPath(path)).toBe(menu);
    expect(menu.title).toMatch(/^[A-Z]/);
    expect(menu.singular).toMatch(/^[A-Z]/);
    expect(menu.help).toMatch(/^[A-Z].{10,}\.$/);
    expect(menu.tree.length).toBeGreaterThan(0);
    expect(new Set(menu.tabs).size).toBe(menu.tabs.length);
    expect(new Set(menu.columns).size).toBe(menu.columns.length);
    expect(new Set(menu.flags.map(({ letter }) => letter)).size).toBe(menu.flags.length);
    for (const { letter } of menu.flags) expect(letter).toHaveLength(1);
    for (const tab of menu.tabs) expect(Object.values(menu.props).map((prop) => prop.tab)).toContain(tab);
    const rows = !['settings', 'status', 'command'].includes(menu.kind);
    if (rows) expect(menu.columns.length).toBeGreaterThan(0);
  });

  it.each(registry.map((menu) => [menu.path, menu] as const))(
    '%s offers commands that can be carried out',
    (_, menu) => {
      const settable = Object.values(menu.props).some((prop) => !prop.readOnly);
      const has = (command: string): boolean => menu.commands.has(command);
      expect(has('move')).toBe(menu.kind === 'ordered');
      expect(has('add')).toBe(menu.kind === 'list' || menu.kind === 'ordered');
      if (has('add')) expect(has('remove')).toBe(true);
      if (has('add') || has('set')) expect(settable).toBe(true);
      expect(has('enable')).toBe('disabled' in menu.props);
      expect(has('disable')).toBe('disabled' in menu.props);
      expect(has('comment')).toBe('comment' in menu.props && menu.kind !== 'settings');
      if (has('unset')) expect(Object.values(menu.props).some((prop) => prop.unset)).toBe(true);
      if (menu.kind === 'status' || menu.kind === 'status-list') expect(settable).toBe(false);
      if (menu.source !== 'live' || menu.rowsOf || menu.interfaceType === 'any') expect(has('set')).toBe(true);
    },
  );

  it('tells what a property accepts in words that people have, not in paths of menus', () => {
    for (const [path, name, { readOnly, kind }] of props) {
      if (!readOnly) expect(kind.accepts, `${path} ${name}`).not.toMatch(/ \/[a-z]/);
    }
  });

  it('shows the rows of a menu that is stored', () => {
    for (const { rowsOf } of registry) {
      if (rowsOf === undefined) continue;
      const menu = menuByPath(rowsOf);
      expect(menu?.source === 'stored' || menu?.interfaceType === 'any', rowsOf).toBe(true);
    }
  });

  it('that shows the rows of another takes the same values', () => {
    const texts = [
      '',
      '0',
      '1',
      '67',
      '68',
      '1500',
      '9216',
      '9217',
      '65535',
      '-1',
      'x',
      'global',
      'all-x',
      '2:0:0:0:0:1',
    ];
    for (const menu of registry) {
      const storages = registry.filter(({ path, interfaceType }) =>
        menu.interfaceType === 'any' ? interfaceType !== undefined : path === menu.rowsOf,
      );
      for (const [name, prop] of Object.entries(menu.props)) {
        for (const storage of storages) {
          const own = storage.props[name];
          if (own === undefined || own.readOnly === true || prop.readOnly === true) continue;
          for (const text of texts)
            expect(prop.kind.parse(text), `${menu.path} ${name} ${text}`).toEqual(own.kind.parse(text));
        }
      }
    }
  });

  it('whose items are named where words of a meaning of their own may stand takes none of those as a name', () => {
    for (const [, , { kind }] of props) {
      for (const { menu, prop } of kind.ref ?? []) {
        if (menu !== '/interface' || prop !== 'name') continue;
        for (const word of kind.keywords ?? [])
          expect(menuByPath(menu)?.props.name?.kind.parse(word).ok, word).toBe(false);
      }
    }
    expect(menuByPath('/interface')?.props.name?.kind.parse('aggregate').ok).toBe(false);
    expect(menuByPath('/interface')?.props.name?.kind.parse('global1').ok).toBe(true);
  });

  it('lists built-in items that its own kinds accept, with ids that no stored row gets', () => {
    const items = registry.flatMap((menu) => (menu.builtin ?? []).map((item) => ({ menu, item })));
    expect(items.length).toBeGreaterThan(0);
    expect(new Set(items.map(({ item }) => item.id)).size).toBe(items.length);
    for (const { menu, item } of items) {
      expect(item.id).toBeGreaterThanOrEqual(0x200_0000);
      expect(item.id).toBeLessThan(0x8000_0000);
      for (const [name, value] of Object.entries(item.values)) {
        expect(menu.props[name]?.kind.parse(value), `${menu.path} ${name}`).toEqual({ ok: true, value });
      }
    }
  });
});

describe('every property', () => {
  it.each(props)('%s %s has a name, a label and a help sentence', (_path, name, prop) => {
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(prop.label).toMatch(/^[A-Z]/);
    expect(prop.help).toMatch(/^[A-Z].{5,}\.$/);
    expect(prop.help.length).toBeLessThan(140);
  });

  it.each(props)('%s %s agrees with itself', (path, name, prop, menu) => {
    for (const { menu: target, prop: key } of prop.kind.ref ?? []) {
      expect(menuByPath(target)?.props[key], `${target} ${key}`).toBeDefined();
    }
    // `!` is understood exactly where it is declared; per-word `!` belongs to the kind.
    const sample = prop.kind.values?.[0] ?? prop.default;
    if (prop.not) expect(prop.kind.accepts).toContain('leading !');
    else if (sample && prop.kind.name !== 'string' && prop.kind.name !== 'tri-set') {
      expect(prop.kind.parse(`!${sample}`).ok, `${path} ${name} takes !${sample}`).toBe(false);
    }
    for (const value of prop.kind.name === 'enum' ? (prop.kind.values ?? []) : []) {
      expect(prop.kind.parse(value)).toEqual({ ok: true, value });
    }
    if (menu.kind === 'settings' && !prop.readOnly) expect(prop.default, 'settings have defaults').toBeDefined();
    if (prop.dataplane && prop.readOnly) expect(name).toBe('default-name');
    if (prop.readOnly || prop.required || prop.unset || prop.derived || prop.default !== undefined) return;
    // What may be left out on add says what then holds.
    expect(menu.kind, `${path} ${name} is neither required, unset nor has a default`).toBe('fixed');
  });
});

const facts = readFacts(new URL('../../../../shared/spec/menus.yaml', import.meta.url));
if (!facts) console.log('skipped: comparison with the fact sheet of RouterOS menus, which is not beside the project');

/** Deliberate differences from RouterOS, `menu property[ aspect]` → why. */
const DIFFERENT: Readonly<Record<string, string>> = {
  '/interface l2mtu ro': 'follows the port; it cannot be lowered',
  '/interface mtu default': 'as /interface/ethernet',
  '/interface disabled default': 'stated for all menus alike',
  '/interface/ethernet l2mtu ro': 'follows the port; it cannot be lowered',
  '/interface/ethernet orig-mac-address ro': 'a fact of the port',
  '/ip/settings tcp-timestamps default': 'that of Linux',
  '/ip/settings icmp-errors-use-inbound-interface-address default': 'that of Linux',
  '/ip/settings ipv4-high-fragment-thresh default': 'that of Linux',
  '/ip/settings ipv4-fragment-time default': 'an identification of 16 bits comes again within seconds',
  '/ip/arp address default': 'an entry without address does nothing, so it is required',
  '/ip/arp address required': 'an entry without address does nothing',
  '/ip/arp mac-address default': 'an entry without address does nothing, so it is required',
  '/ip/arp mac-address required': 'an entry without address does nothing',
  '/ip/route distance unset': 'always has a value, by default 1',
  '/ipv6/address advertise default': 'follows from the prefix: networks of other than 64 bits are not advertised',
  '/ipv6/firewall/filter tcp-flags not': 'each flag has its own !',
  '/ipv6/firewall/filter log default': 'as of /ip/firewall/filter',
  '/ipv6/firewall/filter log-prefix default': 'as of /ip/firewall/filter',
  '/ipv6/firewall/mangle tcp-flags not': 'each flag has its own !',
  '/ipv6/firewall/mangle log default': 'as of /ip/firewall/mangle',
  '/ipv6/firewall/mangle log-prefix default': 'as of /ip/firewall/mangle',
  '/ipv6/firewall/filter reject-with default': 'the first of them, as of IPv4',
  '/ipv6/firewall/mangle address-list-timeout default': 'as of the filter',
  '/ipv6/firewall/address-list address required': 'an entry without address does nothing',
  '/ipv6/firewall/address-list dynamic ro': 'only the system makes dynamic entries',
  '/ipv6/firewall/nat address-list-timeout default': 'as of the filter',
  '/ipv6/firewall/nat log default': 'as of /ip/firewall/nat',
  '/ipv6/firewall/nat log-prefix default': 'as of /ip/firewall/nat',
  '/ipv6/neighbor address required': 'an entry without address does nothing',
  '/ipv6/neighbor interface required': 'an entry without interface does nothing',
  '/ipv6/neighbor mac-address required': 'an entry without address does nothing',
  '/ipv6/neighbor disabled default': 'stated for all menus alike',
  '/ipv6/route distance unset': 'always has a value, by default 1',
  '/ipv6/settings max-neighbor-entries default': 'as of /ip/settings',
  '/ipv6/settings soft-max-neighbor-entries default': 'half of the largest number, as of RouterOS',
  '/ipv6/settings min-neighbor-entries default': 'a quarter of the largest number, as of RouterOS',
  '/ipv6/settings stale-neighbor-detect-interval default': 'that of Linux',
  '/ipv6/settings accept-router-advertisements-on default': 'the list of all interfaces',
  '/routing/rule action unset': 'always has a value, by default lookup',
  '/ip/route scope unset': 'always has a value, by default 30',
  '/ip/route target-scope unset': 'always has a value, by default 10',
  '/ipv6/route scope unset': 'always has a value, by default 30',
  '/ipv6/route target-scope unset': 'always has a value, by default 10',
  '/ip/firewall/filter tcp-flags not': 'each flag has its own !',
  '/ip/firewall/mangle tcp-flags not': 'each flag has its own !',
  '/ip/firewall/address-list address required': 'an entry without address does nothing',
  '/ip/firewall/address-list dynamic ro': 'only the system makes dynamic entries',
  '/ip/firewall/connection/tracking udp-timeout default':
    '30s as the manual and the kernel have it; the data sheet has 10s',
  '/ip/firewall/connection/tracking liberal-tcp-tracking default': 'the manual: no',
  '/queue/interface queue default': 'so that reset goes back to what stands where none was chosen',
  '/queue/interface queue required': 'it has a default',
  '/system/identity name default': 'our own name',
  '/system/logging topics not': 'each topic has its own !',
  '/tool/profile cpu default': 'a default for the dialog',
  '/tool/profile duration default': 'a default for the dialog',
};

/** Properties that RouterOS does not have where we have them. */
const OURS: Readonly<Record<string, string>> = {
  '/interface *-per-second': 'rates of /interface/monitor-traffic, as columns of the live table',
  '/interface own-tx-*': 'what the router itself sent, which throughput leaves out',
  '/interface/ethernet *': 'the counters of /interface, and how frames are exchanged with the port',
  '/interface/vlan *': 'the counters of /interface, and its MTU in effect',
  '/ip/firewall/connection slow-path-reason': 'why is this slow',
  '/ip/firewall/connection vrf': 'which of several with the same addresses it is',
  '/ipv6/firewall/connection slow-path-reason': 'why is this slow',
  '/ipv6/firewall/connection vrf': 'which of several with the same addresses it is',
  '/ip/firewall/connection/tracking worker-*': 'each worker has a table of its own',
  '/queue/simple *borrows': 'RouterOS 6 has it',
  '/queue/simple *lends': 'RouterOS 6 has it',
  '/queue/simple *marked': 'ECN marks',
  '/queue/simple *out-of-order': 'TCP segments that were overtaken or sent again',
  '/queue/simple *-wait': 'how long packets wait',
  '/queue/simple hint': 'settings without effect',
  '/queue/tree borrows': 'RouterOS 6 has it',
  '/queue/tree lends': 'RouterOS 6 has it',
  '/queue/tree marked': 'ECN marks',
  '/queue/tree out-of-order': 'TCP segments that were overtaken or sent again',
  '/queue/tree *-wait': 'how long packets wait',
  '/queue/tree hint': 'settings without effect',
  '/queue/interface *': 'the counters of queues',
  '/ip/address hint': 'settings without effect',
  '/ip/route hint': 'settings without effect',
  '/ipv6/address hint': 'what the address is, and whether it is used',
  '/ipv6/route hint': 'settings without effect',
  '/routing/rule hint': 'why it is not in use',
  '/ip/route unreachable': 'RouterOS 6 has it, as a type',
  '/ip/route prohibit': 'RouterOS 6 has it, as a type',
  '/ipv6/route unreachable': 'RouterOS 6 has it, as a type',
  '/ipv6/route prohibit': 'RouterOS 6 has it, as a type',
  '/ip/settings ipv4-flow-cache-*': 'counters of the flow cache, as of the other handlers',
  '/ipv6/settings ipv6-flow-cache-*': 'counters of the flow cache, as of the other handlers',
  '/ip/settings flow-offload': 'the kernel may forward what the flow cache knows',
  '/ip/settings fasttrack-mode': 'rules and queues may hold for fasttracked connections too',
  '/system/resource handed-over-packets': 'packets that workers gave to others',
};

/** Menus that RouterOS does not have as such. */
const OUR_MENUS: readonly string[] = [
  // A command of RouterOS, no menu.
  '/password',
  '/ip/settings/fast-path',
  '/ip/settings/slow-path',
  '/queue/lint',
  '/tool/packet-trace',
];

describe.skipIf(!facts)('the facts of RouterOS', () => {
  /** Differences that were met. */
  const met = new Set<string>();

  it.each(props.filter(([path]) => !OUR_MENUS.includes(path)))('%s %s', (path, name, prop, menu) => {
    const menuFacts = facts?.get(path);
    expect(menuFacts, `${path} is a RouterOS menu`).toBeDefined();
    const fact = menuFacts?.props[name];
    if (!fact) {
      const ours = Object.keys(OURS).some((pattern) => {
        const [at = '', what = ''] = pattern.split(' ');
        return at === path && new RegExp(`^${what.replace('*', '.*')}$`).test(name);
      });
      expect(ours, `${path} ${name} is unknown to RouterOS`).toBe(true);
      return;
    }
    const same = (aspect: string, mine: unknown, theirs: unknown): void => {
      const key = `${path} ${name} ${aspect}`;
      if (mine === theirs) return;
      met.add(key);
      expect(Object.keys(DIFFERENT), `${mine} here, ${theirs} in RouterOS`).toContain(key);
    };
    same('ro', Boolean(prop.readOnly), Boolean(fact.ro));
    same('not', Boolean(prop.not), Boolean(fact.not));
    same('required', Boolean(prop.required), Boolean(fact.required));
    if (fact.unset && !prop.readOnly) same('unset', Boolean(prop.unset), true);
    if (fact.default !== undefined) {
      const theirs = prop.kind.parse(String(fact.default));
      same('default', prop.default, theirs.ok ? theirs.value : fact.default);
    } else if (prop.default !== undefined && fact.unset === undefined) same('default', prop.default, undefined);
    if (Array.isArray(fact.values) && prop.kind.name === 'enum') {
      for (const value of prop.kind.values ?? []) expect(fact.values, `${path} ${name}`).toContain(value);
    }
    const letter = menu.flags.find((flag) => flag.prop === name)?.letter;
    if (fact.flag !== undefined || letter !== undefined) expect(letter, `${path} ${name} flag`).toBe(fact.flag);
  });

  it.each(registry.filter(({ path }) => !OUR_MENUS.includes(path)).map((menu) => [menu.path, menu] as const))(
    '%s shows its flags in RouterOS order',
    (path, menu) => {
      const letters = Object.keys(facts?.get(path)?.flags ?? {});
      const mine = menu.flags.map((flag) => flag.letter);
      expect(mine).toEqual(letters.filter((letter) => mine.includes(letter)));
    },
  );

  it('every declared difference is one', () => {
    expect(Object.keys(DIFFERENT).filter((key) => !met.has(key))).toEqual([]);
  });
});
