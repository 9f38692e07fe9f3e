import { dryRun, packetTrace } from '../../rest/commands/packet-trace.js';
import type { MenuModule } from '../module.js';

export const toolPacketTrace: MenuModule = {
  path: '/tool/packet-trace',
  run: packetTrace,
  commands: { 'dry-run': dryRun },
};
