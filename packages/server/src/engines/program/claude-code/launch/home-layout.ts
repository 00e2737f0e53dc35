import type { HomeLayout } from '../../launch/program-homes.ts';

/** Where the claude program keeps its settings, and its login among them. */
export const homeLayout = {
  config: '.claude',
  login: '.credentials.json',
  userSettings: ['settings.json', 'CLAUDE.md', 'rules', 'agents', 'skills', 'commands', 'output-styles'],
} as const satisfies HomeLayout;
