import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Json } from '../../../base/json/json.ts';
import { type LoggedContent, type LoggedThread, toSaidDigest } from '../ended-conversation.ts';
import { agent } from '../suite/conversation.suite.ts';
import { type ProgramEvent } from '../program.ts';
import { recoverConversation } from './recover-conversation.ts';

type Said = readonly [kind: 'text' | 'thinking', text: string];

export function content(known: {
  said?: readonly Said[];
  calls?: readonly string[];
  inputs?: Readonly<Record<string, Json>>;
  results?: readonly string[];
  waiting?: readonly string[];
  hasRequest?: boolean;
}): LoggedContent {
  const said = new Map<string, number>();
  for (const [kind, words] of known.said ?? []) {
    const digest = toSaidDigest(kind, words);
    said.set(digest, (said.get(digest) ?? 0) + 1);
  }
  const { calls = [], inputs = {}, results = [], waiting = [], hasRequest = false } = known;
  return {
    hasRequest,
    said,
    calls: new Set(calls),
    inputs: new Map(Object.entries(inputs)),
    results: new Set(results),
    waiting: new Set(waiting),
  };
}

export function main(open: LoggedContent): LoggedThread {
  return { agentName: 'main', parentKey: null, callId: null, open };
}

/** Writes transcripts of a conversation `c`, and recovers events from them. */
export async function open() {
  const projects = await mkdtemp(join(tmpdir(), 'fleetloom-transcripts-'));
  onTestFinished(() => rm(projects, { recursive: true, force: true }));
  return {
    write: async (name: string, records: readonly object[]) => {
      const path = join(projects, 'project', name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, records.map((each) => `${JSON.stringify(each)}\n`).join(''));
    },
    recover: async (threads: Readonly<Record<string, LoggedThread>>) => {
      const about = { sessionId: 's', agent: agent({}), members: [], conversation: 'c' };
      const ended = { ...about, threads: new Map(Object.entries(threads)) };
      const events: string[] = [];
      for await (const batch of recoverConversation(projects, ended)) events.push(...batch.map(toWords));
      return events;
    },
  };
}

function toWords(event: ProgramEvent): string {
  const { key, type } = event;
  if (type === 'thread_opened') return `${key} opened below ${event.parentKey} by ${event.callId} for ${event.prompt}`;
  if (type === 'thread_ended') return `${key} ended ${event.status}`;
  if (type === 'answered') return `${key} answered ${event.callId}`;
  if (type === 'call') return `${key} call ${event.callId}`;
  if (type === 'request_ended') return `${key} ${type}${event.isError ? ' with an error' : ''}`;
  if (type === 'result')
    return `${key} result ${event.callId} ${event.content.map((b) => ('text' in b ? b.text : '')).join('')}`;
  if (type !== 'block_ended') return `${key} ${type}`;
  const { content: block } = event;
  return `${key} ${block.type} ${'text' in block ? block.text : 'thinking' in block ? block.thinking : ''}`;
}

export function prompt(words: string): object {
  return { type: 'user', message: { role: 'user', content: words } };
}

export function text(words: string): object {
  return { type: 'text', text: words };
}

export function call(id: string, input: Json = {}): object {
  return { type: 'tool_use', id, name: 'Bash', input };
}

export function says(id: string, block: object, stopReason: string | null = null): object {
  const message = { id, model: 'm', role: 'assistant', content: [block], stop_reason: stopReason, usage: {} };
  return { type: 'assistant', uuid: `${id} ${JSON.stringify(block)}`.slice(0, 100), message };
}

export function gives(id: string, words: string, isError = false): object {
  const result = { type: 'tool_result', tool_use_id: id, content: words, is_error: isError };
  return { type: 'user', uuid: `result ${id}`, message: { role: 'user', content: [result] } };
}
