import { type Command, type Menu, returnsRows } from '@tollway/schema';
import { argumentValues } from '../../config/arguments.js';
import { namedItems } from '../../config/items.js';
import { errors } from '../../errors.js';
import { type Answer, type Call, type CommandCall, type Handler, type MenuCommands, NOTHING } from '../../services.js';
import { authorOf } from '../author.js';
import { add, move, remove, reset, set, setComment, setDisabled, unset } from '../edits.js';
import { projected, proplistOf } from '../listing.js';
import { print } from './print.js';

/** A command that returns nothing. */
const edit =
  (change: (call: CommandCall) => Promise<void>): Handler =>
  async (call) => {
    await change(call);
    return NOTHING;
  };

/** Commands that change rows, whatever the menu. */
const edits: Readonly<Record<string, Handler>> = {
  add: async (call) => ({ ret: await add(call) }),
  set: edit(async (call) => {
    const { services, menu, args, principal } = call;
    if (menu.kind === 'settings') await services.editor.setSettings(authorOf(principal), menu, args);
    else await set(call, await namedItems(args));
  }),
  remove: edit(async (call) => remove(call, await namedItems(call.args))),
  enable: edit((call) => setDisabled(call, false)),
  disable: edit((call) => setDisabled(call, true)),
  comment: edit(setComment),
  unset: edit(unset),
  reset: edit(reset),
  move: edit(move),
};

/** Runs a command. */
type Run = (call: Call) => Promise<Answer>;

/**
 * Wraps a handler: arguments are parsed before the command runs, and properties of rows that `.proplist` does not name
 * are omitted.
 */
function withArguments(handler: Handler, command: Command): Run {
  // The arguments of these commands are properties of the menu, which the editor checks.
  if (command.name === 'add' || command.name === 'set') return (call) => handler({ ...call, values: {} });
  return async (call) => {
    const values = argumentValues(command, call.args);
    const names = returnsRows(command) ? proplistOf(call.args['.proplist']) : undefined;
    const answer = await handler({ ...call, values });
    // `.section` numbers samples and is no property, so that `.proplist` does not apply to it.
    return names !== undefined && Array.isArray(answer) ? projected(answer, [...names, '.section']) : answer;
  };
}

/**
 * The command with this name in the menu; without a name, the command that the menu is.
 * @throws ApiError when there is no such command.
 */
export function commandOf(
  { services, menu }: { readonly services: Pick<Call['services'], 'commands'>; readonly menu: Menu },
  name: string | undefined,
): { readonly run: Run; readonly permission: Command['permission'] } {
  const module = services.commands.get(menu.path);
  if (name === 'print' && menu.run === undefined) return { run: print, permission: 'read' };
  const command = name === undefined ? menu.run : menu.commands.get(name);
  const handler = command && (name === undefined ? module?.run : handlerOf(module, name));
  if (command === undefined || handler === undefined) {
    throw errors.noSuchCommand(name ?? menu.path.slice(menu.path.lastIndexOf('/') + 1));
  }
  return { run: withArguments(handler, command), permission: command.permission };
}

function handlerOf(module: MenuCommands | undefined, name: string): Handler | undefined {
  const handlers = [module?.commands, edits].find((each) => each !== undefined && Object.hasOwn(each, name));
  return handlers?.[name];
}
