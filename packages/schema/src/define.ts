import { menuColumn } from './column.js';
import type { Command, Policy } from './command.js';
import { commonCommand } from './commands.js';
import type { Menu, MenuDeclaration } from './menu.js';

/**
 * Declares a menu and checks the declaration for contradictions.
 *
 * @throws Error naming the menu, the property and the contradiction; a wrong declaration fails at import.
 */
export function defineMenu(menu: MenuDeclaration): Menu {
  const problems: string[] = [];
  for (const [name, prop] of Object.entries(menu.props)) {
    const say = (text: string): void => void problems.push(`${name}: ${text}`);
    if (prop.readOnly && (prop.required || prop.unset || prop.secret || prop.when)) {
      say('readOnly goes with neither required, unset, secret nor when');
    }
    if (prop.readOnly && prop.default !== undefined) say('readOnly with a default');
    if (prop.required && prop.unset) say('required and unset');
    if (prop.required && prop.default !== undefined) say('required with a default');
    if (!menu.tabs.includes(prop.tab)) say(`tab ${prop.tab} is not among the tabs`);
    if (prop.default !== undefined) {
      const parsed = prop.kind.parse(prop.default);
      if (!parsed.ok) say(`default ${parsed.error}`);
      else if (parsed.value !== prop.default) say(`default ${prop.default} is not canonical (${parsed.value})`);
    }
    const when = prop.when && menu.props[prop.when.prop];
    if (prop.when && !when) say(`when names ${prop.when.prop}, which is no property`);
    for (const value of (when && prop.when?.values) ?? []) {
      const parsed = when?.kind.parse(value);
      if (parsed && (!parsed.ok || parsed.value !== value)) say(`when names ${value}, no value of its property`);
    }
  }
  for (const [name, { kind, value }] of Object.entries(menu.constants ?? {})) {
    const parsed = kind.parse(value);
    if (!parsed.ok || parsed.value !== value) problems.push(`constant ${name}: ${value} is not canonical`);
    if (menu.props[name]) problems.push(`constant ${name} is a property`);
  }
  for (const column of menu.columns) if (!menuColumn(menu, column)) problems.push(`column ${column} is no property`);
  for (const flag of menu.flags) {
    if (menu.props[flag.prop]?.kind.filterType !== 'flag')
      problems.push(`flag ${flag.letter} needs a bool property ${flag.prop}`);
  }
  for (const each of [menu.run, ...menu.commands]) {
    if (each === undefined || typeof each === 'string') continue;
    for (const [name, { kind, required, default: value }] of Object.entries(each.args)) {
      if (value === undefined) continue;
      const parsed = kind.parse(value);
      if (!parsed.ok || parsed.value !== value)
        problems.push(`${each.name} ${name}: default ${value} is not canonical`);
      if (required) problems.push(`${each.name} ${name}: required with a default`);
    }
  }
  for (const key of menu.key ?? []) if (!menu.props[key]) problems.push(`key ${key} is no property`);
  if ((menu.run !== undefined) !== (menu.kind === 'command')) problems.push('run belongs to menus of kind command');
  if (menu.run !== undefined && menu.path.split('/').at(-1) !== menu.run.name) problems.push('run has another name');
  const { commands, policy = 'write', ...rest } = menu;
  const named = new Map<string, Command>();
  for (const each of commands) {
    const command = declared(menu, typeof each === 'string' ? commonCommand(each) : each, policy);
    if (named.has(command.name)) problems.push(`command ${command.name} is declared twice`);
    named.set(command.name, command);
  }
  if (problems.length > 0) throw new Error(`${menu.path}: ${problems.join('; ')}`);
  return { ...rest, commands: named };
}

/** A command as part of a menu: settings have no rows to select, and changes of users need more permissions. */
function declared({ kind, dynamicRemovable }: MenuDeclaration, command: Command, policy: Policy): Command {
  return {
    ...command,
    ...(kind === 'settings' && { target: 'menu' }),
    ...(command.effect !== 'read' && command.permission === 'write' && { permission: policy }),
    ...(command.name === 'remove' && dynamicRemovable !== undefined && { dynamicRows: true }),
  };
}
