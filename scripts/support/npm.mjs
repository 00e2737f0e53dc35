import { basename } from 'node:path';
import { run } from './run.mjs';

/** Runs npm to its end, wherever it is. */
export function runNpm(args, cwd) {
  // Under `npm run`, npm says where it is. That is the surest way to find it, on Windows the only one without a shell.
  const npm = process.env.npm_execpath;
  const isNpm = npm !== undefined && basename(npm) === 'npm-cli.js';
  return isNpm ? run(process.execPath, [npm, ...args], { cwd }) : run('npm', args, { cwd });
}
