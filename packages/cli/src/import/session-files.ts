import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { limits } from '../base/limits.ts';
import { FileTail } from './file-tail.ts';
import { MAIN } from './step.ts';
import { toObject, toText, type TranscriptRecord } from './transcript-record.ts';
import type { AgentMeta } from './transcript-translator.ts';

/**
 * One session of Claude Code on disk: `<id>.jsonl`, and below `<id>/subagents` a file for each sub-agent. The agents of a
 * workflow are in `<id>/subagents/workflows/<run>`.
 */
export interface SessionFile {
  readonly id: string;
  readonly path: string;
  readonly changedAt: number;
}

/** The session of a transcript file; undefined if the path is not a file. */
export async function toSessionFile(path: string): Promise<SessionFile | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  return { id: basename(path, '.jsonl'), path, changedAt: found.mtimeMs };
}

/** The lines of one agent, in a file that may grow. */
export interface AgentTranscript {
  readonly key: string;
  /** Opens the lines, to be read from the first one. */
  readonly open: () => LineSource;
  /** Metadata of the agent; null for the main agent, and until the file exists. */
  readonly readMeta: () => Promise<AgentMeta | null>;
}

/** Lines that are read as they appear. */
export interface LineSource {
  /** Yields the new lines; undefined for an unreadable line. */
  read(): AsyncGenerator<TranscriptRecord | undefined, void, undefined>;
  /** Whether lines that were read no longer exist. */
  readonly isReplaced: boolean;
}

/** The file of the main agent, then the files of the sub-agents so far. */
export async function listAgentFiles({ id, path }: SessionFile): Promise<AgentTranscript[]> {
  const folder = join(dirname(path), id);
  const files = await listTranscripts(join(folder, 'subagents'), 0);
  const children = files.map((file) => ({
    key: file.key,
    open: () => new FileTail(file.path),
    readMeta: () => readMeta(folder, file),
  }));
  return [{ key: MAIN, open: () => new FileTail(path), readMeta: async () => null }, ...children];
}

interface File {
  readonly key: string;
  readonly path: string;
}

async function listTranscripts(folder: string, depth: number): Promise<File[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    const key = /^agent-(.+)\.jsonl$/.exec(entry.name)?.[1];
    if (entry.isFile() && key !== undefined) return [{ key, path }];
    return entry.isDirectory() && depth < limits.importFoldersMax ? await listTranscripts(path, depth + 1) : [];
  });
  return (await Promise.all(found)).flat();
}

/** Reads the metadata file beside a transcript. Old releases have none. */
async function readMeta(folder: string, { key, path }: File): Promise<AgentMeta | null> {
  const meta = await readObject(path.replace(/\.jsonl$/, '.meta.json'));
  // The metadata file is missing or being written, so only the id of the agent is known.
  if (meta === undefined) return null;
  const agentType = toText(meta['agentType']) ?? null;
  const label = agentType === WORKFLOW_AGENT ? await readLabel(folder, basename(dirname(path)), key) : undefined;
  return {
    agentType: label ?? agentType,
    description: toText(meta['description']) ?? label ?? null,
    callId: toText(meta['toolUseId']) ?? null,
    parentId: toText(meta['parentAgentId']) ?? null,
  };
}

const WORKFLOW_AGENT = 'workflow-subagent';

/** The label of an agent in a workflow script: 2.1.325 writes it when the agent starts, all releases when the workflow ends. */
async function readLabel(folder: string, run: string, key: string): Promise<string | undefined> {
  const isAgent = (entry: unknown) => toObject(entry)['agentId'] === key;
  const { workflowProgress } = (await readObject(join(folder, 'workflows', `${run}.json`))) ?? {};
  const listed = Array.isArray(workflowProgress) ? workflowProgress.find(isAgent) : undefined;
  const journal = await readText(join(folder, 'subagents', 'workflows', run, 'journal.jsonl'));
  const started = journal?.split('\n').map(parse).find(isAgent);
  return toText(toObject(listed)['label']) ?? toText(toObject(started)['label']);
}

async function readObject(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const value = parse((await readText(path)) ?? '');
  return value === undefined ? undefined : toObject(value);
}

/** Undefined for a file that is missing or too large. */
async function readText(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > limits.importLineBytesMax) return undefined;
  return await readFile(path, 'utf8').catch(() => undefined);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
