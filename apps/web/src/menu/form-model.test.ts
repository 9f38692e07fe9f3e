import { type Menu, menuByPath, registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import {
  additions,
  changes,
  conflicts,
  copiedEdits,
  copyOf,
  edit,
  errorPlace,
  errorText,
  fieldsOf,
  fieldValue,
  isAlwaysOpen,
  tabsOf,
  trimmedEdits,
  unsavedText,
  validate,
  validateTyped,
  valueError,
  withEdits,
} from './form-model.ts';

function menu(path: string): Menu {
  const found = menuByPath(path);
  if (found === undefined) throw new Error(`no menu ${path}`);
  return found;
}

const filter = menu('/ip/firewall/filter');
const rule = { '.id': '*1', chain: 'forward', action: 'drop', protocol: 'tcp', 'dst-port': '80', comment: 'web' };

test('a copy of an item whose form was changed has what stands there', () => {
  const menuOf = menu('/ip/firewall/filter');
  const values = copiedEdits(menuOf, { 'dst-port': '777', comment: null });
  expect(values).toEqual({ 'dst-port': '777', '!comment': '' });
  const copy = { chain: 'forward', 'dst-port': '555', comment: 'web' };
  expect(withEdits(copy, values)).toEqual({ chain: 'forward', 'dst-port': '777' });
  expect(copiedEdits(menu('/user'), { password: 'secret words', group: 'read' })).toEqual({ group: 'read' });
});

test('only what was changed is sent', () => {
  let edits = edit(filter, {}, rule, 'dst-port', '443');
  edits = edit(filter, edits, rule, 'protocol', 'tcp');
  expect(changes(filter, rule, edits)).toEqual({ 'dst-port': '443' });
});

test('a box that follows from another field shows it, and what it is set to against that is sent', () => {
  const addresses = menu('/ipv6/address');
  const shown = (edits: Readonly<Record<string, string | null>>) =>
    fieldValue(addresses.props.advertise, 'advertise', {}, edits);
  expect([shown({}), shown({ address: '2001:db8::1/64' }), shown({ address: null })]).toEqual([
    'false',
    'true',
    'false',
  ]);
  let edits = edit(addresses, {}, {}, 'address', '2001:db8::1/64');
  edits = edit(addresses, edits, {}, 'advertise', 'false');
  expect(additions(addresses, edits)).toEqual({ address: '2001:db8::1/64', advertise: 'false' });
  expect(additions(addresses, edit(addresses, edits, {}, 'advertise', 'true'))).toEqual({ address: '2001:db8::1/64' });
});

test('a value set back to what it was is no change', () => {
  const edits = edit(filter, edit(filter, {}, rule, 'dst-port', '443'), rule, 'dst-port', '80');
  expect(edits).toEqual({});
});

test('a rate is edited as people write it, and another spelling of it is no change', () => {
  const queues = menu('/queue/simple');
  const queue = { '.id': '*1', name: 'a', target: '192.0.2.7/32', 'max-limit': '20000000/5000000' };
  expect(fieldValue(queues.props['max-limit'], 'max-limit', queue, {})).toBe('20M/5M');
  expect(edit(queues, {}, queue, 'max-limit', '20M/5M')).toEqual({});
  expect(changes(queues, queue, { 'max-limit': '20000k/5M' })).toEqual({});
  expect(changes(queues, queue, { 'max-limit': '20M/6M' })).toEqual({ 'max-limit': '20M/6M' });
  expect(copyOf(queues, queue)).toMatchObject({ name: 'a-copy', 'max-limit': '20M/5M' });
});

test('a folded property is removed with !name; one that never was is not mentioned', () => {
  let edits = edit(filter, {}, rule, 'dst-port', undefined);
  edits = edit(filter, edits, rule, 'src-port', '1');
  edits = edit(filter, edits, rule, 'src-port', undefined);
  expect(changes(filter, rule, edits)).toEqual({ '!dst-port': '' });
});

test('a property that may be absent is removed by an emptied field', () => {
  expect(changes(filter, rule, { 'dst-port': '', 'src-address': '' })).toEqual({ '!dst-port': '' });
});

test('what an action asks for stands open, and is unset by emptying it; conditions fold', () => {
  const mangle = menu('/ip/firewall/mangle');
  const open = Object.entries(mangle.props).filter(([, prop]) => isAlwaysOpen(mangle, prop));
  expect(open.map(([name]) => name)).toEqual([
    'jump-target',
    'address-list',
    'address-list-timeout',
    'new-packet-mark',
    'new-connection-mark',
    'new-routing-mark',
    'new-dscp',
    'new-mss',
  ]);
  const marking = { '.id': '*1', chain: 'forward', action: 'mark-packet', 'new-packet-mark': 'voice' };
  expect(changes(mangle, marking, { 'new-packet-mark': '' })).toEqual({ '!new-packet-mark': '' });
});

test('leaves out of a PATCH what was filled in for an action that is chosen no more', () => {
  const mangle = menu('/ip/firewall/mangle');
  const accepting = { '.id': '*1', chain: 'forward', action: 'accept' };
  const edits = { action: 'accept', 'new-packet-mark': 'bulk', comment: 'x' };
  expect(changes(mangle, accepting, edits)).toEqual({ comment: 'x' });
  expect(changes(mangle, accepting, { ...edits, action: 'mark-packet' })).toMatchObject({ 'new-packet-mark': 'bulk' });
});

test('a value that is being edited and that somebody else changes meanwhile is reported', () => {
  const origins = { 'dst-port': '80', protocol: 'tcp' };
  const reported = (base: typeof rule | Omit<typeof rule, 'dst-port'>, value: string | null) =>
    conflicts(filter, base, { 'dst-port': value }, origins);
  const { 'dst-port': _, ...unset } = rule;
  expect(reported(rule, '443')).toEqual({});
  expect(reported({ ...rule, protocol: 'udp' }, '443')).toEqual({});
  expect(reported({ ...rule, 'dst-port': '8080' }, '443')).toEqual({ 'dst-port': '8080' });
  expect(reported({ ...rule, 'dst-port': '443' }, '443')).toEqual({});
  expect(reported(unset, '443')).toEqual({ 'dst-port': '' });
  expect(reported(unset, null)).toEqual({});
});

test('changes to the item meanwhile are kept: only the edit is sent', () => {
  const edits = edit(filter, {}, rule, 'dst-port', '443');
  const meanwhile = { ...rule, protocol: 'udp', bytes: '99' };
  expect(changes(filter, meanwhile, edits)).toEqual({ 'dst-port': '443' });
  expect(fieldValue(filter.props.protocol, 'protocol', meanwhile, edits)).toBe('udp');
});

test('a new item sends what was filled in and nothing that is hidden', () => {
  const body = additions(filter, {
    chain: 'input',
    action: 'accept',
    'jump-target': 'x',
    'src-port': '',
    protocol: null,
  });
  expect(body).toEqual({ chain: 'input', action: 'accept' });
});

test('required properties are asked for by name', () => {
  expect(Object.keys(validate(filter, {}, true))).toEqual(['chain']);
  expect(validate(filter, { chain: 'input' }, true)).toEqual({});
  expect(validate(filter, {}, false)).toEqual({});
});

test('a value that cannot be is named with what is accepted', () => {
  const errors = validate(filter, { 'dst-port': '70000', '!protocol': '' }, false);
  expect(errors['dst-port']).toMatch(/out of range.*\.$/);
  expect(Object.keys(errors)).toEqual(['dst-port']);
});

test('a field is judged when it is left, but not while it is empty or only negated', () => {
  const prop = filter.props['src-address'];
  if (prop === undefined) throw new Error('src-address');
  expect(valueError(prop, '192.0.2.0/33')).toMatch(/192\.0\.2\.0\/33/);
  expect(valueError(prop, '!192.0.2.0/24')).toBeUndefined();
  expect(valueError(prop, '!')).toBeUndefined();
  expect(valueError(prop, '')).toBeUndefined();
  const ports = filter.props['dst-port'];
  if (ports === undefined) throw new Error('no property');
  for (const typed of ['http', '80,http', '80, http,443', '!http', '!80,http']) {
    expect(valueError(ports, typed)).toMatch(/^http is not in a comma list of ports/);
  }
  expect(valueError(ports, '80,')).toBe(
    'A port or range is missing after the comma; give a comma list of ports and ranges 0..65535 such as 80,443,1000-2000.',
  );
});

test('fields appear with the value that they depend on', () => {
  expect(fieldsOf(filter, 'Action', rule, {}, false)).not.toContain('reject-with');
  expect(fieldsOf(filter, 'Action', rule, { action: 'reject' }, false)).toContain('reject-with');
});

test('a new item has no fields and tabs for live values', () => {
  expect(tabsOf(filter, rule, {}, false)).toContain('Statistics');
  expect(tabsOf(filter, {}, {}, true)).not.toContain('Statistics');
});

test('a copy takes what the user gave, and another name where names are unique', () => {
  expect(copyOf(filter, { ...rule, bytes: '7', dynamic: 'true' })).toEqual({
    chain: 'forward',
    action: 'drop',
    protocol: 'tcp',
    'dst-port': '80',
    comment: 'web',
  });
  expect(copyOf(menu('/interface/list'), { '.id': '*5', name: 'LAN', include: '', builtin: 'false' })).toEqual({
    name: 'LAN-copy',
  });
});

test('errors of the server stand beside their field, or in the dialog when there is none', () => {
  expect(errorPlace(filter, 'dst-port')).toBe('dst-port');
  expect(errorPlace(filter, '!dst-port')).toBe('dst-port');
  expect(errorPlace(filter, 'nonsense')).toBe('');
  expect(errorPlace(filter, 'comment')).toBe('');
  expect(errorPlace(filter, undefined)).toBe('');
});

test('errors of the server are in words of the page beside their field, with the value as it was typed', () => {
  const text = (property: string | undefined, detail: string) => errorText(filter, property, detail);
  expect(text('in-interface', 'input does not match any value of in-interface: ether9 is none of ether1, ether2')).toBe(
    'ether9 is none of ether1, ether2',
  );
  expect(text('!dst-port', 'value of dst-port: x is not a port')).toBe('x is not a port');
  expect(text('chain', 'failure: there is no such chain')).toBe('There is no such chain.');
  expect(errorText(menu('/user'), 'password', 'password: too short')).toBe('Too short.');
  expect(text('jump-target', 'jump-target is required when action is jump: the name of a chain')).toBe(
    'Required when Action is jump: the name of a chain',
  );
  expect(text('nonsense', 'value of nonsense: x is not one')).toBe('value of nonsense: x is not one');
  expect(text(undefined, 'failure: try again')).toBe('failure: try again');
});

test('blanks that came along with a value are no part of it; a text keeps them, and what is wrong stays as it was typed', () => {
  const edits = { 'src-address': '  10.66.0.1/24 ', comment: ' a ', 'dst-address': ' x ', protocol: null };
  expect(trimmedEdits(filter, edits)).toEqual({ ...edits, 'src-address': '10.66.0.1/24' });
});

test('a field that is left is judged once, twice where blanks may be what is wrong', () => {
  const asked: string[] = [];
  const known = filter.props['src-address'];
  if (known === undefined) throw new Error('no property');
  const parse = (text: string) => {
    asked.push(text);
    return known.kind.parse(text);
  };
  const prop = { ...known, kind: { ...known.kind, parse } };
  expect(validateTyped(prop, '10.0.0.1')).toEqual({ value: '10.0.0.1', error: undefined });
  expect(asked).toEqual(['10.0.0.1']);
  expect(validateTyped(prop, ' 10.0.0.1')).toEqual({ value: '10.0.0.1', error: undefined });
  expect(asked).toEqual(['10.0.0.1', ' 10.0.0.1', '10.0.0.1']);
  expect(validateTyped(prop, ' x')).toMatchObject({
    value: ' x',
    error: expect.stringContaining('" x" is not an IPv4'),
  });
  expect(validateTyped(prop, '')).toEqual({ value: '', error: undefined });
});

test('what was being edited is reported when it can only be looked at any more', () => {
  expect(unsavedText(filter, rule, {})).toBeUndefined();
  expect(unsavedText(filter, rule, { action: rule.action ?? '' })).toBeUndefined();
  expect(unsavedText(filter, { ...rule, protocol: 'tcp' }, { action: 'accept', protocol: null })).toBe(
    'Not saved, as you may only look now: Action: accept; Protocol: unset.',
  );
});

test('every writable property of every menu can be reached in its dialog', () => {
  for (const each of registry) {
    if (!each.commands.has('set')) continue;
    for (const [name, prop] of Object.entries(each.props)) {
      if (prop.readOnly === true || name === 'disabled' || name === 'comment') continue;
      const edits = prop.when === undefined ? {} : { [prop.when.prop]: prop.when.values[0] ?? '' };
      expect(fieldsOf(each, prop.tab, {}, edits, true), `${each.path} ${name}`).toContain(name);
    }
  }
});

test('what is missing is named as people call it, and the wrong half of a pair as it was typed', () => {
  expect(validate(menu('/ip/address'), { address: '10.0.0.1/24' }, true).interface).toBe(
    'Required: the name of an interface.',
  );
  for (const each of registry.filter(({ commands }) => commands.has('add'))) {
    for (const error of Object.values(validate(each, {}, true))) expect(error).not.toMatch(/of \/[a-z]/);
  }
  const limit = menu('/queue/simple').props['max-limit'];
  if (limit === undefined) throw new Error('no max-limit');
  expect(valueError(limit, '-5M/0')).toMatch(/^Upload: -5M is not a rate/);
  expect(valueError(limit, '0/ten')).toMatch(/^Download: "?ten"? is not a rate/);
  expect(valueError(limit, '20M/5M')).toBeUndefined();
  const { name, target } = menu('/queue/simple').props;
  if (name === undefined || target === undefined) throw new Error('no name or target');
  expect(valueError(name, ' lead')).toMatch(/^" lead" is not a name .* no space at either end/);
  expect(valueError(name, 'x'.repeat(300))).toMatch(/^x{40}\.\.\. is not a name/);
  expect(validate(menu('/queue/simple'), {}, true).target).toMatch(/^Required: .*IPv4/);
  expect(validate(filter, {}, true).chain).toMatch(/^Required: a name/);
});

test('no tab holds a single value that only tells', () => {
  for (const each of registry) {
    const tabs = tabsOf(each, {}, {}, false);
    const lonely = tabs.filter((tab) => {
      const [name, ...rest] = fieldsOf(each, tab, {}, {}, false);
      return tabs.length > 1 && rest.length === 0 && each.props[name ?? '']?.readOnly === true;
    });
    expect(lonely, each.path).toEqual([]);
  }
});
