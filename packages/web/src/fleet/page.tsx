import './fleet.css';
import type { Page } from '../ui/page.ts';
import { FleetView } from './FleetView.tsx';
import { fleetKeys } from './keys.ts';

/** The Fleet page: all sessions and threads in one table, with their current activity and cost. */
export const fleetPage: Page = {
  view: 'fleet',
  name: 'Fleet',
  shortcut: 'f',
  render: () => <FleetView />,
  keys: fleetKeys,
  help: [
    ['j  k', 'down, up'],
    ['Enter', 'open the thread'],
    ['←  →', 'collapse, expand'],
    ['s', 'send a message'],
    ['x', 'interrupt the thread'],
    ['X', 'interrupt the thread and all threads below'],
    ['/', 'filter threads'],
    ['o', 'order: tree or attention'],
    ['End', 'lanes follow live'],
  ],
};
