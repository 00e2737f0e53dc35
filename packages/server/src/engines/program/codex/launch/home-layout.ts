import type { HomeLayout } from '../../launch/program-homes.ts';

/** The files of Codex in its home: configuration with conversations, and login. */
export const homeLayout = {
  config: '.codex',
  login: 'auth.json',
  userSettings: [],
} as const satisfies HomeLayout;

/** The configuration that a session's own Codex starts with, in its home. */
export const CONFIG_FILE = `${homeLayout.config}/config.toml`;
