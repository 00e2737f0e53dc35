import type { HomeLayout } from '../../launch/program-homes.ts';

/** The files of the claude program in its home: settings and login. */
export const homeLayout = {
  config: '.claude',
  login: '.credentials.json',
  userSettings: ['settings.json', 'CLAUDE.md', 'rules', 'agents', 'skills', 'commands', 'output-styles'],
} as const satisfies HomeLayout;
