import { delimiter, join } from 'node:path';
import { installPackages, isExecutable } from './apt.mjs';
import { say } from './say.mjs';

/** Installs the programs that some tests of the tools need. Without them those tests are skipped, with a message. */
export async function ensureSandbox() {
  const missing = findMissing();
  if (missing.length === 0) return;
  const reason = await installPackages(missing, 'the tests of the tools');
  const still = findMissing();
  if (still.length === 0) return;
  say(
    `\nNOT INSTALLED: ${still.join(', ').toUpperCase()}. Tests that need it are skipped. ${reason} ` +
      `Install it (Debian, Ubuntu: \`apt-get install ${still.join(' ')}\`) to run them.\n`,
  );
}

function findMissing() {
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)];
  const isThere = (program) => folders.some((folder) => isExecutable(join(folder, program)));
  return [...programs].filter(([program]) => !isThere(program)).map(([, name]) => name);
}

/** The program of each package. */
const programs = new Map([
  ['bwrap', 'bubblewrap'],
  ['rg', 'ripgrep'],
]);
