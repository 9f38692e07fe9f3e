import { profileCommand } from '../../rest/commands/profile.js';
import type { MenuModule } from '../module.js';

export const toolProfile: MenuModule = {
  path: '/tool/profile',
  run: profileCommand,
};
