import { changePassword } from '../rest/commands/password.js';
import type { MenuModule } from './module.js';

export const password: MenuModule = {
  path: '/password',
  run: changePassword,
};
