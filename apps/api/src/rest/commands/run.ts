import type { Menu } from '@tollway/schema';
import { namedItems } from '../../config/items.js';
import { errors } from '../../errors.js';
import { type Call, type Handler, NOTHING } from '../../services.js';
import { checkArguments } from '../arguments.js';
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
    checkArguments(call.args, ['.id', 'numbers']);
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

/** The command of that name in the menu. @throws ApiError when it has none. */
export function commandOf(
  { services, menu }: { readonly services: Pick<Call['services'], 'commands'>; readonly menu: Menu },
  name: string,
): Handler {
  if (name === 'print' && menu.run === undefined) return print;
  const own = services.commands.get(menu.path)?.commands;
  const command = menu.commands.has(name) ? (ownIn(own, name) ?? ownIn(edits, name)) : undefined;
  if (command === undefined) throw errors.noSuchCommand(name);
  return command;
}

const ownIn = (commands: Readonly<Record<string, Handler>> | undefined, name: string): Handler | undefined =>
  commands !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
