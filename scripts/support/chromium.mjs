import { delimiter, join } from 'node:path';
import { installPackages, isExecutable } from './apt.mjs';
import { say } from './say.mjs';

/**
 * A browser for the browser tests, or undefined after saying loudly that there is none. playwright-core would download
 * its own from a host that many networks do not reach; the distribution's comes from where everything else comes from.
 */
export async function ensureChromium() {
  const found = findChromium();
  if (found !== undefined) return found;
  const reason = await installChromium();
  const installed = findChromium();
  if (installed !== undefined) return installed;
  say(
    `\nTHERE IS NO BROWSER HERE: the browser tests will fail. ${reason} Install chromium or Google Chrome ` +
      '(Debian, Ubuntu: `apt-get install chromium`), or name one in FLEETLOOM_CHROMIUM=/path/to/it, or leave the ' +
      'browser tests out with `npm test -- --no-browser`.\n',
  );
  return undefined;
}

function findChromium() {
  // Whoever names one means that one: a wrong name is not replaced by a guess.
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
  if (process.env.FLEETLOOM_CHROMIUM) return `FLEETLOOM_CHROMIUM=${process.env.FLEETLOOM_CHROMIUM} is no program.`;
  return installPackages(['chromium'], 'the browser tests');
}
