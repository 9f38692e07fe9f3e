import { rowIdText } from '../../../snapshot/snapshot.js';
import type { CpuLoad } from '../../../state/cpu-load.js';
import { ArrayRows, type View } from '../../../view/rows.js';
import type { MenuModule } from '../../module.js';

/** Load of each core. */
function coresView(cpuLoad: CpuLoad): View {
  return async () => {
    const cores = await cpuLoad.cores();
    return new ArrayRows(
      cores.map(({ cpu, load, irq, disk }) => ({
        '.id': rowIdText(cpu),
        cpu: `cpu${cpu}`,
        load: String(Math.round(load)),
        irq: String(Math.round(irq)),
        disk: String(Math.round(disk)),
      })),
    );
  };
}

export const systemResourceCpu: MenuModule = {
  path: '/system/resource/cpu',
  view: (_, { cpuLoad }) => coresView(cpuLoad),
};
