import { cutText } from '@fleetloom/protocol/fleet';
import type { LineSource, SessionFile } from './session-files.ts';
import type { SessionFormat, StepTranslator } from './session-format.ts';
import type { Step } from './step.ts';
import type { TranscriptRecord } from './transcript-record.ts';
import type { AgentMeta, OpenCall } from './transcript-translator.ts';

interface Source {
  readonly key: string;
  readonly meta: AgentMeta | null;
  readonly tail: LineSource;
}

/** Facts about a session from its files. */
export interface SessionFacts {
  title: string | null;
  directory: string | null;
  version: string | null;
}

/** Reads all files of a session as one sequence, in the order of their timestamps. */
export class SessionReader {
  readonly facts: SessionFacts = { title: null, directory: null, version: null };
  /** Number of unreadable lines. */
  unreadable = 0;
  readonly #session: SessionFile;
  readonly #sources = new Map<string, Source>();
  readonly #format: SessionFormat;
  readonly #translator: StepTranslator;
  /** Time of the last line of each agent. */
  readonly #heardAt = new Map<string, number>();

  constructor(session: SessionFile, format: SessionFormat) {
    this.#session = session;
    this.#format = format;
    this.#translator = format.createTranslator();
  }

  /** Steps, grouped by line. */
  async *read(now: () => number = Date.now): AsyncGenerator<readonly Step[], void, undefined> {
    for (const { key, open, readMeta } of await this.#format.listFiles(this.#session)) {
      // Metadata may appear later, until the first line of the agent is read.
      const known = this.#sources.get(key);
      if (known === undefined || !this.#heardAt.has(key)) {
        this.#sources.set(key, { key, meta: await readMeta(), tail: known?.tail ?? open() });
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

  /** A file of the session was replaced, truncated or rewritten. */
  get isReplaced(): boolean {
    return [...this.#sources.values()].some(({ tail }) => tail.isReplaced);
  }

  /** Open tool calls of agents that have been silent for this long. */
  listQuietCalls(quietMs: number, now: number): readonly OpenCall[] {
    const quiet = [...this.#heardAt].filter(([, heardAt]) => now - heardAt >= quietMs);
    return quiet.flatMap(([key]) => this.#translator.listOpenCalls(key));
  }

  /** Tool calls without a result, of all agents. */
  listOpenCalls(): readonly (OpenCall & { readonly key: string })[] {
    const keys = [...this.#heardAt.keys()];
    return keys.flatMap((key) => this.#translator.listOpenCalls(key).map((call) => ({ ...call, key })));
  }

  /** Closes the turns of all agents that have been silent for `quietMs`; by default of all agents. */
  rest(quietMs = 0, now = Date.now()): readonly Step[] {
    const quiet = [...this.#heardAt].filter(([, heardAt]) => now - heardAt >= quietMs);
    return this.#translator.rest(quiet.map(([key]) => key));
  }

  #learn(record: TranscriptRecord): void {
    const { facts } = this;
    const { directory, version } = this.#format.readFacts(record);
    if (facts.directory === null && typeof directory === 'string') facts.directory = directory;
    if (facts.version === null && typeof version === 'string') facts.version = version;
  }
}

/** Merges the files by timestamp; the order within a file is kept. */
async function* mergeByTime(sources: readonly Source[]) {
  const heads: {
    source: Source;
    lines: ReturnType<LineSource['read']>;
    record: TranscriptRecord | undefined;
    time: string;
  }[] = [];
  for (const source of sources) {
    const lines = source.tail.read();
    const { done, value } = await lines.next();
    if (done !== true) heads.push({ source, lines, record: value, time: value?.time ?? '' });
  }
  while (heads.length > 0) {
    // On equal timestamps the first file wins: the main agent's file is first, and a child comes after its parent.
    const head = heads.reduce((first, each) => (each.time < first.time ? each : first));
    yield { source: head.source, record: head.record };
    const { done, value } = await head.lines.next();
    if (done === true) heads.splice(heads.indexOf(head), 1);
    else {
      head.record = value;
      // A line without a timestamp has the time of the line before.
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
