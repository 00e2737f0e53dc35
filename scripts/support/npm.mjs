import { basename } from 'node:path';
import { run } from './run.mjs';

/** Runs npm and waits for its end. */
export function runNpm(args, cwd) {
  // `npm run` sets its own path. On Windows this is the only way to run npm without a shell.
  const npm = process.env.npm_execpath;
  const isNpm = npm !== undefined && basename(npm) === 'npm-cli.js';
  return isNpm ? run(process.execPath, [npm, ...args], { cwd }) : run('npm', args, { cwd });
}
