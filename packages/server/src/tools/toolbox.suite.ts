import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import type { Json, JsonObject } from '../base/json/json.ts';
import { createToolbox, type ToolboxOptions } from './registry/create-toolbox.ts';
import { findProgram } from './find-program.ts';
import { openBubblewrap } from './sandbox/bubblewrap.ts';
import type { ToolResult } from './tool.ts';
import type { OfferedTool, Toolbox } from './toolbox.ts';

/** A toolbox with a workspace of its own. Both are gone after the test. */
export interface Bench {
  readonly toolbox: Toolbox;
  readonly workspace: string;
  /** A directory beside the workspace, which no tool may reach. */
  readonly outside: string;
  /** Runs a tool of an agent that has all tools. */
  readonly run: (name: string, input: Json, options?: RunOptions) => Promise<Said>;
  /** Writes a file into the workspace. */
  readonly put: (path: string, content: string | Uint8Array) => string;
}

export interface RunOptions {
  readonly threadId?: string;
  readonly signal?: AbortSignal;
  readonly config?: JsonObject;
}

/** A result with its text in one piece. */
export interface Said {
  readonly text: string;
  readonly isError: boolean;
  readonly result: ToolResult;
}

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

export function openBench(options: ToolboxOptions = {}): Bench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-tools-')));
  const [workspace, outside] = [join(root, 'workspace'), join(root, 'outside')];
  mkdirSync(workspace);
  mkdirSync(outside);
  const toolbox = createToolbox(options);
  opened.push(async () => {
    await toolbox.close();
    rmSync(root, { recursive: true, force: true });
  });
  return {
    toolbox,
    workspace,
    outside,
    run: async (name, input, { threadId = 'sthr_1', signal = new AbortController().signal, config } = {}) => {
      const configs = config === undefined ? [] : [{ name, ...config }];
      const tool = await find(toolbox, [{ type: 'agent_toolset_20260401', configs }], name);
      return toSaid(await call(tool, input, { threadId, signal, workspace }));
    },
    put: (path, content) => {
      const file = join(workspace, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
  };
}

export async function find(toolbox: Toolbox, tools: readonly JsonObject[], name: string): Promise<OfferedTool> {
  const tool = (await toolbox.offer({ tools, mcp_servers: [] })).tools.get(name);
  if (tool === undefined) throw new Error(`${name} is not offered`);
  return tool;
}

export async function call(
  tool: OfferedTool,
  input: Json,
  {
    workspace,
    threadId = 'sthr_1',
    signal = new AbortController().signal,
  }: RunOptions & { readonly workspace: string },
): Promise<ToolResult> {
  if (tool.kind === 'custom') throw new Error(`${tool.name} is run by the client`);
  return await tool.run(input, { sessionId: 'sesn_1', threadId, openWorkspace: async () => workspace, signal });
}

export function toSaid(result: ToolResult): Said {
  const text = result.content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');
  return { text, isError: result.isError, result };
}

/** Process ids of the tool hosts that work in this workspace. */
export function findHosts(workspace: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) => isHost(pid, workspace)).map(Number);
}

function isHost(pid: string, workspace: string): boolean {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.trim();
    return title === 'fleetloom-host' && readlinkSync(`/proc/${pid}/cwd`) === workspace;
  } catch {
    // It ended.
    return false;
  }
}

export function runProgram(name: string, args: readonly string[]): void {
  execFileSync(name, args, { stdio: 'ignore' });
}

/** Finds the programs of this machine, except the named ones. */
export function withoutPrograms(...names: string[]): (name: string) => Promise<string | undefined> {
  return async (name) => (names.includes(name) ? undefined : await findProgram(name));
}

const state = await openBubblewrap({ findProgram });

/** Why tests of the sandbox are skipped; undefined if they run. */
export const noSandbox: string | undefined = state.type === 'ready' ? undefined : state.reason;
if (noSandbox !== undefined) console.warn(`tests of the sandbox are left out: ${noSandbox}`);

export const hasOpenssl: boolean = (await findProgram('openssl')) !== undefined;
export const hasRipgrep: boolean = (await findProgram('rg')) !== undefined;
