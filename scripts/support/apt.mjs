import { accessSync, constants } from 'node:fs';
import { run } from './run.mjs';
import { tail, withProgress } from './say.mjs';

/** Installs Debian packages if that needs no password. Otherwise returns the reason as one sentence. */
export async function installPackages(packages, purpose) {
  if (process.getuid?.() !== 0) return 'None was found, and only root may install one.';
  if (!isExecutable('/usr/bin/apt-get')) return 'None was found, and this system has no apt-get.';
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  let output = '';
  const isOk = await withProgress(`installing ${packages.join(' and ')} for ${purpose}`, async () => {
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
      const result = await run('/usr/bin/apt-get', args, { env });
      output = result.output;
      if (result.code !== 0) return false;
    }
    return true;
  });
  return isOk ? 'apt-get installed none.' : `apt-get could not install it:\n${tail(output, 8)}\n`;
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
