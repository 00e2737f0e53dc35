import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isObject } from '../../base/is-object.ts';
import { UsageError } from '../../base/usage-error.ts';
import { HOOK_DIRECTORY } from './hook-server.ts';

type Settings = Readonly<Record<string, unknown>>;

/**
 * The hook in the settings of Claude Code. It is written and removed synchronously, because the entry must also be removed by a process
 * that crashes.
 */
export class HookSettings {
  readonly #path: string;
  readonly #command: string;
  /** The text of the file before and after the hook was added. */
  #before: string | undefined;
  #after: string | undefined;

  constructor(path: string, command: string) {
    this.#path = path;
    this.#command = command;
  }

  /** The entry that is added to the settings. */
  get entry(): object {
    return { hooks: [{ type: 'command', command: this.#command, timeout: HOOK_SECONDS }] };
  }

  /** Adds the entry, and removes abandoned entries of killed processes. Returns the number of removed entries. */
  add(): number {
    const text = readText(this.#path);
    const settings = parse(text ?? '{}', this.#path);
    if (settings['disableAllHooks'] === true) {
      throw new UsageError(`Hooks are turned off in "${this.#path}".`, 'Remove disableAllHooks from the settings.');
    }
    const entries = entriesOf(settings);
    const kept = entries.filter((entry) => !isAbandoned(entry));
    this.#before = text;
    this.#after = toText(withEntries(settings, [...kept, this.entry]));
    write(this.#path, this.#after);
    return entries.length - kept.length;
  }

  /** Removes the entry. Settings that were changed in the meantime keep their changes. */
  remove(): void {
    if (this.#after === undefined) return;
    const text = readText(this.#path);
    const isOurs = text === this.#after;
    this.#after = undefined;
    if (text === undefined) return;
    if (isOurs && (this.#before === undefined || !hasAbandoned(this.#before))) {
      if (this.#before === undefined) rmSync(this.#path, { force: true });
      else write(this.#path, this.#before);
      return;
    }
    const settings = parse(text, this.#path);
    const others = entriesOf(settings).filter((entry) => !commandsOf(entry).includes(this.#command));
    write(this.#path, toText(withEntries(settings, others)));
  }
}

/** How long a prompt may wait for a person: one day. After that, only the terminal can decide. */
const HOOK_SECONDS = 86_400;

function entriesOf(settings: Settings): readonly unknown[] {
  const hooks = isObject(settings['hooks']) ? settings['hooks'] : {};
  const entries = hooks['PermissionRequest'];
  return Array.isArray(entries) ? entries : [];
}

function withEntries(settings: Settings, entries: readonly unknown[]): Settings {
  const { PermissionRequest: _, ...others } = isObject(settings['hooks']) ? settings['hooks'] : {};
  const hooks = entries.length === 0 ? others : { ...others, PermissionRequest: entries };
  const { hooks: __, ...rest } = settings;
  return Object.keys(hooks).length === 0 ? rest : { ...settings, hooks };
}

function commandsOf(entry: unknown): readonly unknown[] {
  const hooks = isObject(entry) ? entry['hooks'] : undefined;
  return Array.isArray(hooks) ? hooks.map((hook) => (isObject(hook) ? hook['command'] : undefined)) : [];
}

/** Whether the process of an entry was killed and could not remove it. */
function isAbandoned(entry: unknown): boolean {
  return commandsOf(entry).some((command) => {
    const pid = typeof command === 'string' ? Number(SOCKET.exec(command)?.[1]) : Number.NaN;
    return Number.isSafeInteger(pid) && !isAlive(pid);
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return isObject(error) && error['code'] === 'EPERM';
  }
}

function hasAbandoned(text: string): boolean {
  return entriesOf(parse(text, '')).some(isAbandoned);
}

const SOCKET = new RegExp(`/${HOOK_DIRECTORY}(\\d+)-[^'/]*/s'$`);

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isObject(error) && error['code'] === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text: string, path: string): Settings {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The error is reported below.
  }
  throw new UsageError(`"${path}" is not a JSON object.`, 'Repair the settings of Claude Code.');
}

function toText(settings: Settings): string {
  return `${JSON.stringify(settings, null, 2)}\n`;
}

/** Replaces the file atomically. A symbolic link is kept, and its target is replaced. */
function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const target = existsSync(path) ? realpathSync(path) : path;
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o600;
  const draft = `${target}.fleetloom-${process.pid}`;
  writeFileSync(draft, text, { mode });
  chmodSync(draft, mode);
  renameSync(draft, target);
}
