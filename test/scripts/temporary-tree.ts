import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';

export const scripts = join(import.meta.dirname, '..', '..', 'scripts');

/** Runs one of our scripts, as a program, on a small repository made of these files. */
export async function runOnTree(script: string, files: Record<string, string>): Promise<Ending> {
  const root = await createTree(files);
  return runNode([join(scripts, script), root]);
}

/** A folder that is gone after the test. Keys are paths, values contents. */
export async function createTree(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'fleetloom-tree-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

/** Runs a few lines of JavaScript that may import our scripts by `$scripts/…`. */
export function runLines(source: string, env: Record<string, string> = {}): Promise<Ending> {
  return runNode(['--input-type=module', '-e', withScripts(source)], env);
}

export function withScripts(source: string): string {
  return source.replaceAll('$scripts', pathToFileURL(scripts).href);
}

export type Ending = { code: number; stdout: string; stderr: string };

export function runNode(args: string[], env: Record<string, string> = {}): Promise<Ending> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}
