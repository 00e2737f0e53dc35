import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MAIN, type Story, StoryBuilder, toPlainContent, toSortedJson } from './story.ts';

/** What the program wrote to its own files about a session, read with nothing of the code under test. */
export async function readTranscript(home: string, conversations: readonly string[]): Promise<Story> {
  const projects = join(home, '.claude', 'projects');
  const paths = (await readdir(projects, { recursive: true })).filter((path) => path.endsWith('.jsonl'));
  const story = new StoryBuilder();
  const seen = new Set<unknown>();
  const agents: AgentFile[] = [];
  for (const conversation of conversations) {
    for (const path of paths) {
      if (basename(path) === `${conversation}.jsonl`) await readInto(story, seen, MAIN, join(projects, path));
      const key = /(?:^|\/)agent-([^/]+)\.jsonl$/.exec(path)?.[1];
      if (key !== undefined && path.includes(`/${conversation}/`)) agents.push({ key, path: join(projects, path) });
    }
  }
  await openAgents(story, seen, agents);
  return story.build();
}

interface AgentFile {
  readonly key: string;
  readonly path: string;
}

/** The parent of an agent is the one that made the call which started it, so parents are read first. */
async function openAgents(story: StoryBuilder, seen: Set<unknown>, agents: readonly AgentFile[]): Promise<void> {
  const waiting = await Promise.all(agents.map(async (agent) => ({ ...agent, callId: await readCallId(agent.path) })));
  while (waiting.length > 0) {
    const at = waiting.findIndex(({ callId }) => callId === undefined || story.ownerOf(callId) !== undefined);
    const [agent] = waiting.splice(Math.max(0, at), 1);
    const { key, path, callId = '' } = agent!;
    story.open(key, story.ownerOf(callId) ?? MAIN);
    await readInto(story, seen, key, path);
  }
}

async function readCallId(path: string): Promise<string | undefined> {
  const meta = await readFile(path.replace(/\.jsonl$/, '.meta.json'), 'utf8').catch(() => '{}');
  return (JSON.parse(meta) as { readonly toolUseId?: string }).toolUseId;
}

async function readInto(story: StoryBuilder, seen: Set<unknown>, key: string, path: string): Promise<void> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  // A program that was killed leaves half a line behind.
  const whole = lines.slice(0, -1).filter((line) => line !== '');
  for (const line of whole) {
    const record = JSON.parse(line) as TranscriptLine;
    if (record.uuid !== undefined && seen.has(record.uuid)) continue;
    seen.add(record.uuid);
    if (record.type === 'assistant') readAnswer(story, key, record);
    else if (record.type === 'user') readUser(story, key, record);
    else if (record.type === 'attachment') readAttachment(story, key, record);
    else if (record.type === 'system') readSystem(story, key, record);
  }
}

interface TranscriptLine {
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string;
  readonly isMeta?: boolean;
  readonly isCompactSummary?: boolean;
  readonly isApiErrorMessage?: boolean;
  readonly origin?: { readonly kind?: string };
  readonly content?: unknown;
  readonly attachment?: { readonly type?: string; readonly prompt?: unknown; readonly commandMode?: string };
  readonly message?: { readonly model?: string; readonly content?: string | readonly Block[] };
}

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

function readAnswer(story: StoryBuilder, key: string, record: TranscriptLine): void {
  for (const block of toBlocks(record)) {
    const text = toText(block['text'] ?? block['thinking']);
    if (block.type === 'tool_use') {
      const { id, name, input } = block;
      const shown = String(name).replace(/^mcp__fleetloom__/, '');
      story.add(key, { kind: 'call', id: String(id), name: shown, input: toSortedJson(input), result: null });
    } else if (record.isApiErrorMessage === true) story.add(key, { kind: 'error', text });
    // What the program writes where no model was asked.
    else if (record.message?.model === '<synthetic>' && text === 'No response requested.') continue;
    else if (block.type === 'thinking') story.add(key, { kind: 'thinking', text });
    else if (block.type === 'text' && text !== '') story.add(key, { kind: 'text', text });
  }
}

function readUser(story: StoryBuilder, key: string, record: TranscriptLine): void {
  const blocks = toBlocks(record);
  for (const block of blocks) {
    if (block.type !== 'tool_result') continue;
    const content = toPlainContent(block['content']);
    story.end(key, String(block['tool_use_id']), {
      isError: block['is_error'] === true,
      isInterrupted: false,
      content,
    });
  }
  if (blocks.some(({ type }) => type === 'tool_result')) return;
  const text = toTold(record, toPlainContent(blocks));
  if (text !== undefined) story.add(key, { kind: 'told', text });
}

/** What somebody said to the agent. Undefined for what the program writes for its model. */
function toTold({ isMeta, isCompactSummary, origin }: TranscriptLine, text: string): string | undefined {
  if (origin?.kind === 'coordinator') return FOLLOW_UP.exec(text)?.[1] ?? text;
  if (isMeta === true || isCompactSummary === true || origin?.kind === 'task-notification') return undefined;
  const [, command, args] = COMMAND.exec(text) ?? [];
  if (command !== undefined) return `${command} ${args ?? ''}`.trim();
  return NOTES.test(text) ? undefined : text;
}

/** What another agent says is wrapped in advice. */
const FOLLOW_UP = /^The coordinator sent a message while you were working:\n([^]*?)\n\nAddress this before/;
const COMMAND = /^<command-name>([^<]*)<\/command-name>[^]*?(?:<command-args>([^<]*)<\/command-args>)?$/;
const NOTES = /^(?:\[Request interrupted by user|<local-command-|<task-notification>)/;

/** A message that came in the middle of a turn is kept as an attachment of that turn. */
function readAttachment(story: StoryBuilder, key: string, { attachment }: TranscriptLine): void {
  if (attachment?.type !== 'queued_command' || attachment.commandMode === 'task-notification') return;
  story.add(key, { kind: 'told', text: toPlainContent(attachment.prompt) });
}

/** Slash commands and their output, and compactions. */
function readSystem(story: StoryBuilder, key: string, { subtype, content }: TranscriptLine): void {
  if (subtype === 'compact_boundary') return story.add(key, { kind: 'compacted', text: '' });
  if (subtype !== 'local_command') return;
  const [, output] = /^<local-command-stdout>([^]*)<\/local-command-stdout>$/.exec(String(content)) ?? [];
  if (output === undefined) story.add(key, { kind: 'told', text: String(content) });
  else story.add(key, { kind: 'text', text: output.trim() });
}

function toBlocks({ message }: TranscriptLine): readonly Block[] {
  const { content = [] } = message ?? {};
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
