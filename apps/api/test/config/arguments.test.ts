import { type Command, menuByPath } from '@tollway/schema';
import { describe, expect, it } from 'vitest';
import { argumentValues } from '../../src/config/arguments.js';

function commandOf(path: string, name?: string): Command {
  const menu = menuByPath(path);
  const command = name === undefined ? menu?.run : menu?.commands.get(name);
  if (command === undefined) throw new Error(`${path} has no command ${name}`);
  return command;
}

const monitor = commandOf('/interface', 'monitor-traffic');
const profile = commandOf('/tool/profile');
const trace = commandOf('/tool/packet-trace');

describe('arguments of a command', () => {
  it('are canonical texts, with defaults for those that are not given', () => {
    expect(argumentValues(profile, { duration: 45 })).toEqual({ cpu: 'total', duration: '45s' });
    expect(argumentValues(monitor, { interface: ['ether1', ' ether2'], once: true })).toEqual({
      interface: 'ether1,ether2',
      once: 'true',
    });
    expect(argumentValues(monitor, { interface: 'ether1', once: '' })).toMatchObject({ once: 'true' });
    expect(argumentValues(monitor, { interface: 'ether1', once: 'no' })).toMatchObject({ once: 'false' });
    expect(argumentValues(monitor, { interface: 'ether1', once: 'perhaps' })).toMatchObject({ once: 'true' });
  });

  it('may be given under another name, with one value', () => {
    expect(argumentValues(monitor, { numbers: 'ether1' })).toEqual({ interface: 'ether1' });
    expect(argumentValues(monitor, { interface: ['a', 'b'], '.id': ['a', 'b'] })).toEqual({ interface: 'a,b' });
    expect(() => argumentValues(monitor, { interface: 'a', '.id': 'b' })).toThrow(
      'value of .id: interface has another value; give one of the two',
    );
  });

  it('that name rows or properties of the result are none of them', () => {
    expect(argumentValues(commandOf('/interface/ethernet', 'monitor'), { numbers: '*1', '.proplist': 'name' })).toEqual(
      {},
    );
  });

  it('are absent when empty only where that is declared', () => {
    expect(argumentValues(trace, { protocol: '', packets: '' })).toMatchObject({ packets: '10' });
    expect(() => argumentValues(profile, { cpu: '' })).toThrow(/^value of cpu: an empty value is not an integer/);
  });

  it.each<[string, string, object, string]>([
    ['/log', 'info', {}, 'missing value of message: text of at most 1024 characters'],
    ['/log', 'info', { message: 'a', level: 'b' }, 'unknown parameter level'],
    ['/ip/route', 'unset', { numbers: '*1' }, 'missing value of value-name: names of properties, separated by commas'],
    ['/ip/route', 'enable', { numbers: '*1', '.proplist': 'name' }, 'unknown parameter .proplist'],
    ['/interface/ethernet', 'monitor', { duration: '2h' }, 'value of duration: 2h is longer than a minute'],
  ])('%s %s refuses %j', (path, name, args, detail) => {
    expect(() => argumentValues(commandOf(path, name), { ...args })).toThrow(detail);
  });
});
