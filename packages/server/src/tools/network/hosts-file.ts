import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { toolLimits } from '../limits.ts';

/**
 * The names in the hosts file of the machine. The file is read again when it has changed, which is checked every 5 s.
 *
 * Reads are synchronous: asynchronous ones would wait for a thread behind lookups of the operating system, which a slow name
 * server can hold for seconds. The file is local and the operator's.
 */
export class HostsFile {
  readonly #path: string;
  readonly #clock: Pick<Clock, 'steady'>;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #version = '';
  #addresses: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(path: string = SYSTEM_PATH, clock: Pick<Clock, 'steady'>) {
    this.#path = path;
    this.#clock = clock;
  }

  /** The addresses of a name in lower case; empty if the file does not have it. */
  find(hostname: string): readonly string[] {
    const now = this.#clock.steady();
    if (now - this.#checkedAt >= toolLimits.hostsFileCheckMs) {
      this.#checkedAt = now;
      this.#refresh();
    }
    return this.#addresses.get(hostname) ?? [];
  }

  #refresh(): void {
    try {
      const { mtimeMs, size, ino } = statSync(this.#path);
      const version = `${mtimeMs} ${size} ${ino}`;
      if (version === this.#version) return;
      this.#addresses = parseHosts(readFileSync(this.#path, 'utf8'));
      this.#version = version;
    } catch {
      // Without a readable file there are no such names, as for the operating system.
      this.#addresses = new Map();
      this.#version = '';
    }
  }
}

const SYSTEM_PATH =
  process.platform === 'win32'
    ? `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';

function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const addresses = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const known = addresses.get(name) ?? [];
      if (!known.includes(address)) addresses.set(name, [...known, address]);
    }
  }
  return addresses;
}
