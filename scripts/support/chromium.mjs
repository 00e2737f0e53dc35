import { delimiter, join } from 'node:path';
import { installPackages, isExecutable } from './apt.mjs';
import { say } from './say.mjs';

/**
 * Finds or installs a browser for the browser tests; undefined, with a message, if there is none. playwright-core would
 * download its own from a host that many networks block, so the package of the distribution is used.
 */
export async function ensureChromium() {
  const found = findChromium();
  if (found !== undefined) return found;
  const reason = await installChromium();
  const installed = findChromium();
  if (installed !== undefined) return installed;
  say(
    `\nNO BROWSER WAS FOUND: the browser tests will fail. ${reason} Install chromium or Google Chrome ` +
      '(Debian, Ubuntu: `apt-get install chromium`), or name one in FLEETLOOM_CHROMIUM=/path/to/it, or leave the ' +
      'browser tests out with `npm test -- --no-browser`.\n',
  );
  return undefined;
}

function findChromium() {
  // A path from the environment is used as it is: a wrong one is an error, not a reason to search.
  const named = process.env.FLEETLOOM_CHROMIUM;
  return (named ? [named] : usualPlaces()).find(isExecutable);
}

function usualPlaces() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)];
  return [
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ];
}

async function installChromium() {
  if (process.env.FLEETLOOM_CHROMIUM) return `FLEETLOOM_CHROMIUM=${process.env.FLEETLOOM_CHROMIUM} is not a program.`;
  // The shell is faster where a test needs no window; not every distribution has it.
  await installPackages(['chromium', 'chromium-headless-shell'], 'the browser tests');
  return findChromium() === undefined ? installPackages(['chromium'], 'the browser tests') : '';
}
