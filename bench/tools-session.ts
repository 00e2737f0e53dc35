import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { limits } from '@fleetloom/server';
// Tools are not exported by the package, so this imports them by path.
import { Shells } from '../packages/server/src/tools/builtin/bash/shells.ts';
import { createToolbox, type ToolboxOptions } from '../packages/server/src/tools/registry/create-toolbox.ts';
import { WorkspaceFiles } from '../packages/server/src/tools/builtin/files/workspace-files.ts';
import { runTool } from '../packages/server/src/tools/host/program/run-tool.ts';
import { ToolHosts } from '../packages/server/src/tools/host/server/tool-hosts.ts';
import { createLocks } from '../packages/server/src/tools/locks.ts';
import type { ToolResult } from '../packages/server/src/tools/tool.ts';

/** A workspace with a file of 4 KiB, the size of typical sources. */
export interface BenchWorkspace {
  readonly path: string;
  readonly text: string;
  remove(): void;
}

/** A session with its tools, whose host is not started yet. */
export interface BenchSession {
  read(): Promise<string>;
  bash(command: string): Promise<string>;
  glob(pattern: string): Promise<string>;
  close(): Promise<void>;
}

export function createWorkspace(): BenchWorkspace {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-bench-tools-')));
  const text = `${'x'.repeat(63)}\n`.repeat(64);
  mkdirSync(join(path, 'src'));
  writeFileSync(join(path, FILE), text);
  return { path, text, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Adds this many files, ten in each directory. */
export function addFiles({ path }: BenchWorkspace, count: number): void {
  for (let at = 0; at < count; at++) {
    const directory = join(path, `packages/part-${at % 10}/src/folder-${Math.floor(at / 100)}`);
    if (at % 100 < 10) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `module-${at}.ts`), '');
  }
}

/** The paths that ripgrep lists in a directory, started for it as a tool would be. */
export async function listByRipgrep({ path }: BenchWorkspace): Promise<string[]> {
  const args = ['--files', '--no-config', '--hidden', '--no-ignore'];
  const { stdout } = await promisify(execFile)('rg', args, { cwd: path, maxBuffer: 16 * 1024 * 1024 });
  return stdout.trim().split('\n');
}

/** Opens a session with its tools, like a server. */
export async function openSession(
  { path }: BenchWorkspace,
  hosts: ToolHosts = new ToolHosts(),
  options: ToolboxOptions = {},
): Promise<BenchSession> {
  const toolbox = createToolbox({ hosts, allowUnsandboxedBash: true, ...options });
  const { tools } = await toolbox.offer({ tools: [{ type: 'agent_toolset_20260401' }], mcp_servers: [] });
  const { signal } = new AbortController();
  const context = { sessionId: 'sesn_1', threadId: 'sthr_1', openWorkspace: async () => path, signal };
  const run = async (name: string, input: { [key: string]: string }): Promise<string> => {
    const tool = tools.get(name);
    if (tool === undefined || tool.kind === 'custom') throw new Error(`${name} is not offered`);
    return toText(await tool.run(input, context));
  };
  return {
    read: async () => await run('read', { file_path: FILE }),
    bash: async (command) => await run('bash', { command }),
    glob: async (pattern) => await run('glob', { pattern }),
    close: async () => await toolbox.close(),
  };
}

/** Reads the same file in this process, without a host. */
export function openInProcess({ path: workspace }: BenchWorkspace): { read(): Promise<string> } {
  const files = new WorkspaceFiles({ locks: createLocks(), linksMax: limits.fileLinksMax });
  const { signal } = new AbortController();
  const context = {
    threadId: 'sthr_1',
    signal,
    workspace,
    files,
    shells: new Shells(),
    programs: {},
    environment: {},
    limits,
  };
  return { read: async () => toText(await runTool('read', { file_path: FILE }, context)) };
}

const FILE = 'src/file.ts';

function toText({ content, isError }: ToolResult): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  if (isError) throw new Error(text);
  return text;
}
