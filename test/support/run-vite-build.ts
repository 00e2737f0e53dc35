import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { InlineConfig } from 'vite';
import { repositoryRoot } from './root.ts';

export interface ViteBuild {
  readonly files: readonly { readonly type: 'chunk' | 'asset'; readonly code: string }[];
  /** Imports by package name in any bundled module. */
  readonly bareImports: string[];
}

/**
 * Builds with vite in a process of its own, for which the configuration is sent as JSON. The bundler keeps hundreds of megabytes
 * that it has used, and a process with that much memory takes 10 ms longer for each program that it starts.
 */
export async function runViteBuild(config: Pick<InlineConfig, 'resolve' | 'ssr' | 'build'>): Promise<ViteBuild> {
  const child = spawn(process.execPath, [PROGRAM], { cwd: repositoryRoot, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close') as Promise<[number | null]>;
  child.stdin.end(JSON.stringify({ root: repositoryRoot, ...config }));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`vite could not build (exit code ${code}): ${stderr}`);
  return JSON.parse(stdout) as ViteBuild;
}

const PROGRAM = fileURLToPath(new URL('./vite-build.mjs', import.meta.url));
