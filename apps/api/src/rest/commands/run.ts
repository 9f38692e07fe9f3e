import { namedItems } from '../../config/items.js';
import { errors } from '../../errors.js';
import { type Answer, type Call, NOTHING } from '../../services.js';
import { checkArguments } from '../arguments.js';
import { authorOf } from '../author.js';
import { add, move, remove, reset, set, setComment, setDisabled, unset } from '../edits.js';
import { resetAllCounters, resetCounters } from './counters.js';
import { writeLog } from './log.js';
import { monitorEthernet } from './monitor.js';
import { monitorTraffic } from './monitor-traffic.js';
import { dryRun, packetTrace } from './packet-trace.js';
import { changePassword } from './password.js';
import { print } from './print.js';
import { profileCommand } from './profile.js';

type Command = (call: Call) => Promise<Answer>;

/** Commands of menus that declare them. */
const declared: Readonly<Record<string, Command>> = {
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
  'reset-counters': resetCounters,
  'reset-counters-all': resetAllCounters,
};

/** Commands of single menus that are no edits: those that menus declare as calls, and other runs of one that runs. */
export const special: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  '/interface': { 'monitor-traffic': monitorTraffic },
  '/interface/ethernet': { monitor: monitorEthernet },
  '/tool/packet-trace': { 'dry-run': dryRun },
  '/log': {
    debug: (call) => writeLog(call, 'debug'),
    info: (call) => writeLog(call, 'info'),
    warning: (call) => writeLog(call, 'warning'),
    error: (call) => writeLog(call, 'error'),
  },
};

/** The command of that name in the menu. @throws ApiError when it has none. */
export function commandOf(call: Pick<Call, 'menu'>, name: string): Command {
  const { menu } = call;
  if (name === 'print' && menu.kind !== 'command') return print;
  if (menu.commands.has(name) && Object.hasOwn(declared, name)) {
    const command = declared[name];
    if (command !== undefined) return command;
  }
  const own = special[menu.path];
  const command = own !== undefined && Object.hasOwn(own, name) ? own[name] : undefined;
  if (command === undefined) throw errors.noSuchCommand(name);
  return command;
}

/** The command that a menu of kind `command` is. */
export const menuCommand = (path: string): Command | undefined => (Object.hasOwn(RUN, path) ? RUN[path] : undefined);

const RUN: Readonly<Record<string, Command>> = {
  '/password': changePassword,
  '/tool/profile': profileCommand,
  '/tool/packet-trace': packetTrace,
};
