import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished, vi } from 'vitest';

/** Every form in which tokens could be somewhere. */
export function toForms(tokens: readonly string[]): readonly string[] {
  return tokens.flatMap((token) => [
    token,
    Buffer.from(`x-access-token:${token}`).toString('base64'),
    Buffer.from(token).toString('base64').replace(/=+$/, ''),
    Buffer.from(token).toString('hex'),
  ]);
}

/** All files that the processes of a test make, and all git commands that the server runs. */
export interface ObservedMachine {
  /** Temporary files, home directories and data are here. */
  readonly directory: string;
  /** Arguments and environment of each command, separated by NUL. */
  readonly gitCalls: () => readonly string[];
}

/** Gives this process a home and a directory of temporary files of its own, and a git that writes down how it was started. */
export function observeMachine(): ObservedMachine {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-observed-'));
  const [bin, temporary, home, calls] = ['bin', 'tmp', 'home', 'calls'].map((name) => join(directory, name));
  for (const path of [bin!, temporary!, home!, calls!]) mkdirSync(path);
  const git = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/sh\n{ printf '%s\\0' "$@"; cat /proc/$$/environ; } > ${calls}/$$\nexec ${git} "$@"\n`;
  writeFileSync(join(bin!, 'git'), script, { mode: 0o755 });
  vi.stubEnv('TMPDIR', temporary);
  vi.stubEnv('HOME', home);
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    directory,
    gitCalls: () => readdirSync(calls!).map((name) => `\0${readFileSync(join(calls!, name), 'latin1')}`),
  };
}

export function findInText(text: string, forms: readonly string[], name: string): string[] {
  return forms.some((form) => text.includes(form)) ? [name] : [];
}

/** The files below a directory that have a token. */
export function findInFiles(directory: string, forms: readonly string[]): string[] {
  return listFiles(directory).flatMap((path) => findInText(readIfThere(path), forms, path));
}

/** The git directories whose objects have a token: in files and packs they are compressed. */
export function findInObjects(directory: string, forms: readonly string[]): string[] {
  const heads = listFiles(directory).filter((path) => basename(path) === 'HEAD');
  return heads.flatMap((head) => {
    const repository = head.slice(0, -'/HEAD'.length);
    // `HEAD` is also the name of a reflog.
    if (!readdirSync(repository).includes('objects')) return [];
    const args = ['-c', 'safe.directory=*', `--git-dir=${repository}`, 'cat-file', '--batch-all-objects', '--batch'];
    return findInText(execFileSync('git', args, { encoding: 'latin1', maxBuffer: 2 ** 28 }), forms, repository);
  });
}

/** Arguments and environments of this process and of all that it has started. */
export function findInProcesses(forms: readonly string[]): string[] {
  const files = listProcesses().flatMap((id) => [`/proc/${id}/cmdline`, `/proc/${id}/environ`]);
  return files.flatMap((file) => findInText(readIfThere(file), forms, file));
}

/** The memory of all processes that this one has started, and which programs could be looked at. */
export function findInMemory(forms: readonly string[]): {
  readonly found: readonly string[];
  readonly programs: ReadonlySet<string>;
} {
  const found: string[] = [];
  const programs = new Set<string>();
  for (const id of listProcesses().filter((each) => each !== String(process.pid))) {
    const program = readIfThere(`/proc/${id}/comm`).trim();
    const memory = readMemory(id);
    if (memory === '') continue;
    programs.add(program);
    found.push(...findInText(memory, forms, `memory of ${program} (${id})`));
  }
  return { found, programs };
}

/** What a process has written to its memory: heap, stack and anonymous maps, which a core file has. */
function readMemory(id: string): string {
  let file: number;
  try {
    file = openSync(`/proc/${id}/mem`, 'r');
  } catch {
    return '';
  }
  const parts: string[] = [];
  for (const line of readIfThere(`/proc/${id}/maps`).split('\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    if (from === undefined || to === undefined) continue;
    const bytes = Buffer.alloc(Math.min(Number.parseInt(to, 16) - Number.parseInt(from, 16), MAP_BYTES_MAX));
    try {
      parts.push(bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, Number.parseInt(from, 16))));
    } catch {
      // The process has ended, or the map is reserved only.
    }
  }
  closeSync(file);
  return parts.join('\n');
}

const MAP_BYTES_MAX = 8 * 1024 * 1024;

function listProcesses(): readonly string[] {
  const all = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  const parents = new Map(all.map((id) => [id, /^\d+ \(.*\) . (\d+) /s.exec(readIfThere(`/proc/${id}/stat`))?.[1]]));
  const isOurs = (id: string | undefined): boolean =>
    id !== undefined && (id === String(process.pid) || isOurs(parents.get(id)));
  return all.filter(isOurs);
}

function listFiles(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
