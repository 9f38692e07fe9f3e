import type { Interface, IoChoice } from '@tollway/dataplane-agent';
import { AgentGone } from '../../agent/messages.js';
import { type CompileContext, effective, requiredValue } from '../../compiler/context.js';
import { compileInterface } from '../../compiler/interface.js';
import { InvalidRow } from '../../compiler/invalid-row.js';
import { notUnicast } from '../../config/checks/addresses.js';
import { findItems, namedItems, noSuchItem } from '../../config/items.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { counterCommands } from '../../rest/commands/counters.js';
import { samples } from '../../rest/commands/monitor.js';
import type { Answer, CommandCall } from '../../services.js';
import { interfaceName } from '../../snapshot/interfaces.js';
import { type Row, rowsOf } from '../../snapshot/snapshot.js';
import { storedRowsOf } from '../../snapshot/storage.js';
import { interfacesView } from '../../view/interfaces.js';
import type { MenuModule } from '../module.js';

const MENU = '/interface/ethernet';

/** The L3 interface of every port. A disabled port is included and is down. */
function compileInterfaces(context: CompileContext): Interface[] {
  return rowsOf(context.snapshot, MENU).flatMap((row) => context.orInvalid(row, () => [one(context, row)]) ?? []);
}

function one(context: CompileContext, row: Row): Interface {
  const port = requiredValue(MENU, row, 'default-name');
  const io = ioChoice(requiredValue(MENU, row, 'io'));
  return compileInterface(context, MENU, row, { type: 'ethernet', port, io }, effective(MENU, row, 'mac-address'));
}

const IO_CHOICES: readonly IoChoice[] = ['auto', 'af-packet', 'af-xdp'];

function ioChoice(value: string): IoChoice {
  const choice = IO_CHOICES.find((known) => known === value);
  if (!choice) throw new InvalidRow(`io: ${value} is no way to exchange frames`);
  return choice;
}

function checkEthernet({ values }: ProposedRow): FieldError | undefined {
  const mac = values['mac-address'] === undefined ? undefined : notUnicast(values['mac-address']);
  return mac ? fieldError('mac-address', mac) : undefined;
}

/** `/interface/ethernet/monitor`: whether the links of ports are up. */
async function monitorEthernet(call: CommandCall): Promise<Answer> {
  const { services, menu, args } = call;
  const items = await namedItems(args);
  const rows = await findItems(menu, storedRowsOf(services.store.snapshot, menu.path), items, noSuchItem);
  return samples(call, async () => {
    const stats = await services.live.stats();
    if (stats === undefined) throw new AgentGone();
    return rows.map((row) => {
      const port = stats.interfaces.find((entry) => entry.row === row.id);
      const status = port === undefined ? 'unknown' : port.running ? 'link-ok' : 'no-link';
      return { name: interfaceName(row), status };
    });
  });
}

export const ethernet: MenuModule = {
  path: '/interface/ethernet',
  compile: (context) => ({ interfaces: compileInterfaces(context) }),
  check: checkEthernet,
  view: (menu, { store, live }) => interfacesView(menu, store, live),
  commands: { ...counterCommands('reset-interface-counters'), monitor: monitorEthernet },
};
