import { cutText } from '@fleetloom/protocol/fleet';
import { FileTail } from './file-tail.ts';
import { listAgentFiles, type SessionFile } from './session-files.ts';
import type { Step } from './step.ts';
import type { TranscriptRecord } from './transcript-record.ts';
import { type AgentMeta, type OpenCall, TranscriptTranslator } from './transcript-translator.ts';

interface Source {
  readonly key: string;
  readonly meta: AgentMeta | null;
  readonly tail: FileTail;
}

/** What a session says of itself. */
export interface SessionFacts {
  title: string | null;
  directory: string | null;
  version: string | null;
}

/** Reads all files of a session as one story, in the order in which things happened, as far as they go now. */
export class SessionReader {
  readonly facts: SessionFacts = { title: null, directory: null, version: null };
  /** Lines that could not be read. */
  unreadable = 0;
  readonly #session: SessionFile;
  readonly #sources = new Map<string, Source>();
  readonly #translator = new TranscriptTranslator();
  /** When each agent was last heard of. */
  readonly #heardAt = new Map<string, number>();

  constructor(session: SessionFile) {
    this.#session = session;
  }

  /** Steps line by line: those of one line belong together. */
  async *read(now: () => number = Date.now): AsyncGenerator<readonly Step[], void, undefined> {
    for (const { key, path, readMeta } of await listAgentFiles(this.#session)) {
      // More may be known of an agent later, until its first line is read.
      const known = this.#sources.get(key);
      if (known === undefined || !this.#heardAt.has(key)) {
        this.#sources.set(key, { key, meta: await readMeta(), tail: known?.tail ?? new FileTail(path) });
      }
    }
    for await (const { source, record } of mergeByTime([...this.#sources.values()])) {
      this.#heardAt.set(source.key, now());
      if (record === undefined) this.unreadable++;
      else this.#learn(record);
      const steps = this.#translator.take(source.key, source.meta, record);
      if (this.facts.title === null) this.facts.title = toTitle(steps);
      if (steps.length > 0) yield steps;
    }
  }

  /** A file of the session no longer begins with what was read from it: it was replaced, truncated or rewritten. */
  get isReplaced(): boolean {
    return [...this.#sources.values()].some(({ tail }) => tail.isReplaced);
  }

  /** Calls without a result, of agents that have written nothing for so long. */
  listQuietCalls(quietMs: number, now: number): readonly OpenCall[] {
    const quiet = [...this.#heardAt].filter(([, heardAt]) => now - heardAt >= quietMs);
    return quiet.flatMap(([key]) => this.#translator.listOpenCalls(key));
  }

  /** Nothing follows, from nobody, or from those of whom nothing was heard for so long. */
  rest(quietMs = 0, now = Date.now()): readonly Step[] {
    const quiet = [...this.#heardAt].filter(([, heardAt]) => now - heardAt >= quietMs);
    return this.#translator.rest(quiet.map(([key]) => key));
  }

  #learn({ fields }: TranscriptRecord): void {
    const { facts } = this;
    if (facts.directory === null && typeof fields['cwd'] === 'string') facts.directory = fields['cwd'];
    if (facts.version === null && typeof fields['version'] === 'string') facts.version = fields['version'];
  }
}

/** The oldest of what comes next in any file goes first. Within a file the order stays as it is. */
async function* mergeByTime(sources: readonly Source[]) {
  const heads: {
    source: Source;
    lines: ReturnType<FileTail['read']>;
    record: TranscriptRecord | undefined;
    time: string;
  }[] = [];
  for (const source of sources) {
    const lines = source.tail.read();
    const { done, value } = await lines.next();
    if (done !== true) heads.push({ source, lines, record: value, time: value?.time ?? '' });
  }
  while (heads.length > 0) {
    // The first of equal ones: the main agent's file comes first, and whoever is called comes after who calls.
    const head = heads.reduce((first, each) => (each.time < first.time ? each : first));
    yield { source: head.source, record: head.record };
    const { done, value } = await head.lines.next();
    if (done === true) heads.splice(heads.indexOf(head), 1);
    else {
      head.record = value;
      // Lines without a time happened with what came before them.
      head.time = value?.time ?? head.time;
    }
  }
}

const TITLE_CHARS = 200;

function toTitle(steps: readonly Step[]): string | null {
  const said = steps.flatMap(({ event }) => (event.type === 'said' ? event.content : []));
  const text = said
    .map((block) => (typeof block['text'] === 'string' ? block['text'].trim() : ''))
    .join(' ')
    .trim();
  if (text === '') return null;
  return text.length <= TITLE_CHARS ? text : `${cutText(text, TITLE_CHARS)}…`;
}
