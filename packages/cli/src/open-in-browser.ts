import { spawn } from 'node:child_process';
import type { Io } from './io.ts';

/** Opens an address where somebody sits in front of a screen; the address was printed, so nothing is lost elsewhere. */
export function openInBrowser(io: Io, url: string): void {
  if (!hasScreen(io)) return;
  const [command, ...args] = toCommand(io.platform);
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {}); // there is no such program
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
