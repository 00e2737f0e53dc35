import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { LogStory } from './log-story.ts';
import { MAIN, type Story, StoryBuilder, toPlainContent, toSortedJson } from './story.ts';

/** The facts of the log about a session that may be missing in its transcripts. */
type Known = Pick<LogStory, 'conversations' | 'ownerOf' | 'threads'>;

/** Reads the program's own files about a session without using the code under test. */
export async function readTranscript(home: string, known: Known): Promise<Story> {
  const projects = join(home, '.claude', 'projects');
  const paths = (await readdir(projects, { recursive: true })).filter((path) => path.endsWith('.jsonl'));
  const story = new StoryBuilder();
  const seen = new Set<unknown>();
  const agents: AgentFile[] = [];
  for (const conversation of known.conversations) {
    for (const path of paths) {
      if (basename(path) === `${conversation}.jsonl`) await readInto(story, seen, MAIN, join(projects, path));
      const key = /(?:^|\/)agent-([^/]+)\.jsonl$/.exec(path)?.[1];
      if (key !== undefined && path.includes(`/${conversation}/`)) agents.push({ key, path: join(projects, path) });
    }
  }
  await openAgents(story, seen, agents, known);
  return story.build();
}

interface AgentFile {
  readonly key: string;
  readonly path: string;
}

/** The parent of an agent is the one that made the call which started it, so parents are read first. */
async function openAgents(
  story: StoryBuilder,
  seen: Set<unknown>,
  agents: readonly AgentFile[],
  known: Known,
): Promise<void> {
  const waiting = await Promise.all(agents.map(async (agent) => ({ ...agent, ...(await readMeta(agent.path)) })));
  const findParent = async ({ key, path, callId }: (typeof waiting)[number], isCertain: boolean) => {
    if (callId === undefined) return MAIN;
    const owner = story.ownerOf(callId ?? '');
    if (owner !== undefined || isCertain) return owner;
    // The program writes the files of an agent before the record of the call that started the agent, and names that call in a file
    // of its own. One that was killed in between leaves agents behind whose caller only the log can know. Those that the log has
    // have to be as they were written, and those whose prompt is the one of a call have to be there.
    const logged = known.ownerOf(callId ?? '') ?? known.threads.get(key)?.parent ?? undefined;
    return logged ?? (callId === null ? await findCaller(path, story, known) : undefined);
  };
  const openNext = async (isCertain: boolean) => {
    for (const [at, agent] of waiting.entries()) {
      const parent = await findParent(agent, isCertain);
      if (parent === undefined) continue;
      waiting.splice(at, 1);
      story.open(agent.key, parent);
      await readInto(story, seen, agent.key, agent.path);
      return true;
    }
    return false;
  };
  while ((await openNext(true)) || (await openNext(false)));
}

interface AgentMeta {
  /** Undefined for an agent of a workflow; null if the program was killed before it wrote or renamed the file with the call. */
  readonly callId: string | null | undefined;
}

async function readMeta(path: string): Promise<AgentMeta> {
  const meta = await readFile(path.replace(/\.jsonl$/, '.meta.json'), 'utf8').catch(() => undefined);
  if (meta === undefined) return { callId: null };
  return { callId: (JSON.parse(meta) as { readonly toolUseId?: string }).toolUseId };
}

/** The agent with a call that has the prompt of this transcript. */
async function findCaller(path: string, story: StoryBuilder, known: Known): Promise<string | undefined> {
  const [first = '', ...more] = (await readFile(path, 'utf8')).split('\n');
  if (more.length === 0) return undefined;
  const prompt = toPlainContent(toBlocks(JSON.parse(first) as TranscriptLine));
  const all = [...story.build().threads.values(), ...known.threads.values()];
  return all.find(({ items }) => items.some((item) => item.kind === 'call' && promptOf(item.input) === prompt))?.key;
}

function promptOf(input: string): unknown {
  return (JSON.parse(input) as { readonly prompt?: unknown } | null)?.prompt;
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
  readonly origin?: Origin;
  readonly content?: unknown;
  readonly attachment?: {
    readonly type?: string;
    readonly prompt?: unknown;
    readonly commandMode?: string;
    readonly origin?: Origin;
  };
  readonly message?: { readonly model?: string; readonly content?: string | readonly Block[] };
}

/** The origin of a message from another sub-agent, with the text as the sender wrote it. */
interface Origin {
  readonly kind?: string;
  readonly body?: string;
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
  const text = toInput(record, toPlainContent(blocks));
  if (text !== undefined) story.add(key, { kind: 'input', text });
}

/** A message of a person or of another agent. Undefined for what the program writes for its model. */
function toInput({ isMeta, isCompactSummary, origin }: TranscriptLine, text: string): string | undefined {
  if (origin?.kind === 'peer') return origin.body;
  if (origin?.kind === 'coordinator') return FOLLOW_UP.exec(text)?.[1] ?? text;
  if (isMeta === true || isCompactSummary === true || origin?.kind === 'task-notification') return undefined;
  const [, command, args] = COMMAND.exec(text) ?? [];
  if (command !== undefined) return `${command} ${args ?? ''}`.trim();
  return NOTES.test(text) ? undefined : text;
}

/** The advice around a message of another agent. */
const FOLLOW_UP = /^The coordinator sent a message while you were working:\n([^]*?)\n\nAddress this before/;
const COMMAND = /^<command-name>([^<]*)<\/command-name>[^]*?(?:<command-args>([^<]*)<\/command-args>)?$/;
const NOTES = /^(?:\[Request interrupted by user|<local-command-|<task-notification>)/;

/** A message that came in the middle of a turn is kept as an attachment of that turn. */
function readAttachment(story: StoryBuilder, key: string, { attachment }: TranscriptLine): void {
  if (attachment?.type !== 'queued_command' || attachment.commandMode === 'task-notification') return;
  story.add(key, { kind: 'input', text: attachment.origin?.body ?? toPlainContent(attachment.prompt) });
}

/** Slash commands and their output, and compactions. */
function readSystem(story: StoryBuilder, key: string, { subtype, content }: TranscriptLine): void {
  if (subtype === 'compact_boundary') return story.add(key, { kind: 'compacted', text: '' });
  if (subtype === 'informational') return readRefusal(story, key, String(content));
  if (subtype !== 'local_command') return;
  const [, output] = /^<local-command-stdout>([^]*)<\/local-command-stdout>$/.exec(String(content)) ?? [];
  if (output === undefined) story.add(key, { kind: 'input', text: String(content) });
  else if (output.trim() !== '') story.add(key, { kind: 'text', text: output.trim() });
}

/** Reads a message that a hook rejected: it is only part of the rejection text. */
function readRefusal(story: StoryBuilder, key: string, content: string): void {
  const [, refused] =
    /^UserPromptSubmit operation blocked by hook:[^]*\n\nOriginal prompt: ([^]*)$/.exec(content) ?? [];
  if (refused === undefined) return;
  story.add(key, { kind: 'input', text: refused });
  story.add(key, { kind: 'error', text: content });
}

function toBlocks({ message }: TranscriptLine): readonly Block[] {
  const { content = [] } = message ?? {};
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
