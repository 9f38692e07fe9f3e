/**
 * Windows that are more than a table or a form, by menu path, and additions to tabs of generated dialogs. Menus that
 * are not here need no code.
 */
import type { ComponentType } from 'react';
import type { TabExtras } from '../menu/form-tabs.ts';
import { ConnectionsWindow } from './firewall/ConnectionsWindow.tsx';
import { InterfaceGraphs } from './interface/InterfaceGraphs.tsx';
import { InterfaceWindow } from './interface/InterfaceWindow.tsx';
import { LogWindow } from './log/LogWindow.tsx';
import { QueueDays } from './queue/accounting/QueueDays.tsx';
import { HintsWindow } from './queue/lint/HintsWindow.tsx';
import { QueueGraphs } from './queue/QueueGraphs.tsx';
import { QueueWindow } from './queue/QueueWindow.tsx';
import { TokenBucket } from './queue/scope/TokenBucket.tsx';
import { PasswordWindow } from './system/PasswordWindow.tsx';
import { CpuWindow } from './system/resource/CpuWindow.tsx';
import { ResourceWindow } from './system/resource/ResourceWindow.tsx';
import { ProfileWindow } from './tool/profile/ProfileWindow.tsx';
import { TraceWindow } from './tool/trace/TraceWindow.tsx';
import type { WindowProps } from './window-props.ts';
import './windows.css';

export const bespokeWindows: Readonly<Record<string, ComponentType<WindowProps>>> = {
  '/interface': InterfaceWindow,
  '/interface/ethernet': InterfaceWindow,
  '/ip/firewall/connection': ConnectionsWindow,
  '/log': LogWindow,
  '/password': PasswordWindow,
  '/queue/lint': HintsWindow,
  '/queue/simple': QueueWindow,
  '/queue/tree': QueueWindow,
  '/system/resource': ResourceWindow,
  '/system/resource/cpu': CpuWindow,
  '/tool/packet-trace': TraceWindow,
  '/tool/profile': ProfileWindow,
};

const traffic: TabExtras = { Traffic: { Content: InterfaceGraphs } };
const queue: TabExtras = {
  Traffic: { Content: QueueGraphs, after: 'Statistics' },
  'Token Bucket': { Content: TokenBucket, after: 'Traffic' },
  Days: { Content: QueueDays },
};

export const tabExtras: Readonly<Record<string, TabExtras>> = {
  '/interface': traffic,
  '/interface/ethernet': traffic,
  '/queue/simple': queue,
  '/queue/tree': queue,
};
