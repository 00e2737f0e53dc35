import { inSlices } from '../../../../base/in-slices.ts';
import type { Block, Conversation } from './conversation.ts';
import { type ParsedScript, parseScript } from '../script/parse-script.ts';
import type { Script } from '../script/script.ts';

/** The script of a request, or why there is none. */
export type FoundScript =
  /** `conversation`: without the script's own text, which would match itself. */
  | { type: 'script'; script: Script; conversation: Conversation }
  | { type: 'problem'; status: 400 | 404; message: string };

/** Reads a script by its name, built in or from a directory; undefined for an unknown name. */
export type ReadScript = (name: string) => Promise<ParsedScript | undefined>;

/** Finds the script to play: from the conversation, else by the name of the model, else the echo. */
export async function findScript(
  conversation: Conversation,
  readScript: ReadScript,
  signal?: AbortSignal,
): Promise<FoundScript> {
  const said = await inSlices(findSaid(conversation), signal);
  if (said !== undefined) return toFound(said.parsed, said.where, said.conversation);
  const { model } = conversation;
  const name = model.startsWith(MODEL_PREFIX) ? model.slice(MODEL_PREFIX.length) : 'echo';
  const parsed = await readScript(name);
  if (parsed === undefined) return { type: 'problem', status: 404, message: `model: ${model}` };
  return toFound(parsed, `the script ${name}`, conversation);
}

/** The prefix of names of scripted models. */
export const MODEL_PREFIX = 'scripted/';

interface Said {
  parsed: ParsedScript;
  where: string;
  conversation: Conversation;
}

function* findSaid(conversation: Conversation): Generator<void, Said | undefined> {
  return (yield* findInMessages(conversation)) ?? (yield* findInSystem(conversation));
}

function* findInMessages(conversation: Conversation): Generator<void, Said | undefined> {
  const at = conversation.messages.findIndex(({ role }) => role === 'user');
  const message = conversation.messages[at];
  for (const [index, block] of (message?.blocks ?? []).entries()) {
    if (index % TEXTS_AT_ONCE === 0) yield;
    const element = block.type === 'text' ? yield* findElement(block.text) : undefined;
    if (message === undefined || element === undefined) continue;
    const rest: Block[] = element.rest === '' ? [] : [{ type: 'text', text: element.rest }];
    const blocks = message.blocks.toSpliced(index, 1, ...rest);
    const messages = conversation.messages.with(at, { ...message, blocks });
    const where = 'the script in the first user message';
    return { parsed: element.parsed, where, conversation: { ...conversation, messages } };
  }
  return undefined;
}

function* findInSystem(conversation: Conversation): Generator<void, Said | undefined> {
  for (const [index, text] of conversation.system.entries()) {
    if (index % TEXTS_AT_ONCE === 0) yield;
    const element = yield* findElement(text);
    if (element === undefined) continue;
    const system = conversation.system.with(index, element.rest);
    const where = 'the script in the system prompt';
    return { parsed: element.parsed, where, conversation: { ...conversation, system } };
  }
  return undefined;
}

const TEXTS_AT_ONCE = 16;

/** The first `<script>{…}</script>`. An element that does not begin with `{` counts as HTML. */
function* findElement(text: string): Generator<void, { parsed: ParsedScript; rest: string } | undefined> {
  const start = /<script>\s*\{/.exec(text)?.index;
  if (start === undefined) return undefined;
  const end = text.indexOf(END, start);
  if (end === -1) return { parsed: { type: 'problem', path: '', message: `does not end: write ${END}` }, rest: text };
  const rest = `${text.slice(0, start)}${text.slice(end + END.length)}`.trim();
  return { parsed: yield* parseScript(text.slice(start + START.length, end), 'json'), rest };
}

const START = '<script>';
const END = '</script>';

function toFound(parsed: ParsedScript, where: string, conversation: Conversation): FoundScript {
  if (parsed.type === 'script') return { type: 'script', script: parsed.script, conversation };
  const place = parsed.path === '' ? where : `${where}: ${parsed.path}`;
  return { type: 'problem', status: 400, message: `${place}: ${parsed.message}` };
}
