import { spawn } from 'node:child_process';
import type { Io } from './io.ts';

/** Opens a URL in the browser if this is a desktop terminal. Elsewhere the printed URL is enough. */
export function openInBrowser(io: Io, url: string): void {
  if (!hasScreen(io)) return;
  const [command, ...args] = toCommand(io.platform);
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {}); // the program does not exist
  child.unref();
}

function hasScreen({ env, platform, stdout }: Io): boolean {
  if (stdout.isTTY !== true || isSet(env['CI']) || isSet(env['SSH_CONNECTION'])) return false;
  return platform === 'darwin' || platform === 'win32' || isSet(env['DISPLAY']) || isSet(env['WAYLAND_DISPLAY']);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

function toCommand(platform: string): [string, ...string[]] {
  if (platform === 'darwin') return ['open'];
  return platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}
