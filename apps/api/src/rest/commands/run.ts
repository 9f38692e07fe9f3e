import type { Command, Menu } from '@tollway/schema';
import { namedItems } from '../../config/items.js';
import { errors } from '../../errors.js';
import { type Call, type Handler, NOTHING } from '../../services.js';
import { authorOf } from '../author.js';
import { add, move, remove, reset, set, setComment, setDisabled, unset } from '../edits.js';
import { print } from './print.js';

/** Commands that change rows, whatever the menu. */
const edits: Readonly<Record<string, Handler>> = {
  add: async (call) => ({ ret: await add(call) }),
  set: async (call) => {
    if (call.menu.kind === 'settings') {
      await call.services.editor.setSettings(authorOf(call.principal), call.menu, call.args);
    } else await set(call, await namedItems(call.args));
    return NOTHING;
  },
  remove: async (call) => {
    await remove(call, await namedItems(call.args));
    return NOTHING;
  },
  enable: async (call) => {
    await setDisabled(call, false);
    return NOTHING;
  },
  disable: async (call) => {
    await setDisabled(call, true);
    return NOTHING;
  },
  comment: async (call) => {
    await setComment(call);
    return NOTHING;
  },
  unset: async (call) => {
    await unset(call);
    return NOTHING;
  },
  reset: async (call) => {
    await reset(call);
    return NOTHING;
  },
  move: async (call) => {
    await move(call);
    return NOTHING;
  },
};

/** Arguments that name the rows of a command. */
const ITEMS = ['.id', 'numbers'];

/** Refuses arguments that the command does not declare. Those of `add` and `set` are properties, which the editor checks. */
function checked(handler: Handler, { name, target, args }: Command): Handler {
  if (name === 'add' || name === 'set') return handler;
  const allowed = new Set([...Object.keys(args), ...(target === 'selection' ? ITEMS : [])]);
  return async (call) => {
    const unknown = Object.keys(call.args).find((argument) => !allowed.has(argument));
    if (unknown !== undefined) throw errors.unknownParameter(unknown);
    return handler(call);
  };
}

/** The command of that name in the menu. @throws ApiError when it has none. */
export function commandOf(
  { services, menu }: { readonly services: Pick<Call['services'], 'commands'>; readonly menu: Menu },
  name: string,
): Handler {
  if (name === 'print' && menu.run === undefined) return print;
  const own = services.commands.get(menu.path)?.commands;
  const declared = menu.commands.get(name);
  const handler = declared === undefined ? undefined : (ownIn(own, name) ?? ownIn(edits, name));
  if (declared === undefined || handler === undefined) throw errors.noSuchCommand(name);
  // The arguments of a menu of kind `command` are its properties, which its own code checks.
  return menu.run === undefined ? checked(handler, declared) : handler;
}

const ownIn = (commands: Readonly<Record<string, Handler>> | undefined, name: string): Handler | undefined =>
  commands !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
