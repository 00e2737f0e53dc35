import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { ChainCheck, type ChainEnd } from '@fleetloom/server';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { onEndingSignal } from '../base/until-signal.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';

/** Options of `audit`. */
export interface AuditOptions extends ConnectionOptions {
  verify?: boolean;
  anchor?: string;
  after?: string;
  follow?: boolean;
}

/** A page of `GET /v1/fleet/audit`. */
interface AuditPage {
  readonly data: readonly FleetAuditEntry[];
  readonly start: ChainEnd;
  readonly head: ChainEnd;
  readonly next_after: number | null;
}

/** `fleetloom audit`: prints entries as JSON lines; with --verify only what is wrong, and the newest entry. */
export async function audit(io: Io, options: AuditOptions): Promise<number> {
  const anchor = options.anchor === undefined ? undefined : toAnchor(options.anchor);
  const after = toSeq(options.after);
  const isStrange = options.follow === true || after !== undefined;
  if (options.verify === true ? isStrange : anchor !== undefined) {
    throw new UsageError('--verify goes with --anchor, and not with --after or --follow.', 'Leave one of them out.');
  }
  const api = createServerApi(toConnection(io.env, options));
  return options.verify === true ? await verify(io, api, anchor) : await print(io, api, after ?? 0, options.follow);
}

async function print(io: Io, api: ServerApi, from: number, follows = false): Promise<number> {
  let after = from;
  let isOver = false;
  let wake = () => {};
  const undo = onEndingSignal(io, () => {
    isOver = true;
    wake();
  });
  try {
    for (;;) {
      const page = await read(api, after);
      await writeText(io.stdout, page.data.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
      after = page.data.at(-1)?.seq ?? after;
      if (page.next_after !== null) continue;
      if (!follows || isOver) return exitCode.ok;
      await new Promise<void>((resolve) => {
        const cancel = io.timers.after(FOLLOW_MS, resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
      if (isOver) return exitCode.ok;
    }
  } finally {
    undo();
  }
}

async function verify(io: Io, api: ServerApi, anchor: ChainEnd | undefined): Promise<number> {
  const problems: string[] = [];
  let check: ChainCheck | undefined;
  let known: ChainEnd | undefined;
  let head: ChainEnd | undefined;
  let start: ChainEnd | undefined;
  for (let after: number | null = 0; after !== null; ) {
    const page: AuditPage = await read(api, after);
    start ??= page.start;
    check ??= new ChainCheck(start);
    if (page.start.seq === anchor?.seq) known = page.start;
    for (const entry of page.data) {
      const problem = check.add(entry);
      if (problem !== undefined) problems.push(problem);
      if (entry.seq === anchor?.seq) known = entry;
    }
    head = page.head;
    after = page.next_after;
  }
  const last = check?.last;
  if (head !== undefined && last !== undefined && last.seq > head.seq) {
    problems.push(`entry ${last.seq} is behind the newest one, which is ${head.seq}: it was inserted`);
  } else if (head !== undefined && (last?.seq ?? 0) !== head.seq) {
    problems.push(`the log ends at entry ${last?.seq ?? 0}, and ${head.seq} was the newest: its end was removed`);
  } else if (head !== undefined && last !== undefined && last.hash !== head.hash) {
    problems.push(`entry ${head.seq} is not the one that the log was left with: it was rewritten`);
  }
  const firstSeq = start?.seq ?? 0;
  const isGone = anchor !== undefined && anchor.seq < firstSeq;
  if (isGone) problems.push(`retention has removed entry ${anchor.seq}: pass an anchor from entry ${firstSeq} on`);
  const wrong = anchor === undefined || isGone ? undefined : ChainCheck.compare(anchor, known);
  if (wrong !== undefined) problems.push(wrong);
  for (const problem of problems) io.stderr.write(`✗ ${problem}\n`);
  if (problems.length > 0) return exitCode.failed;
  io.stderr.write(`Every entry matches. Keep the anchor of the newest one elsewhere:\n`);
  await writeText(io.stdout, `${head?.seq ?? 0}:${head?.hash ?? ''}\n`);
  return exitCode.ok;
}

async function read(api: ServerApi, after: number): Promise<AuditPage> {
  return await api.get<AuditPage>('/v1/fleet/audit', { after, limit: PAGE_ENTRIES });
}

const PAGE_ENTRIES = 500;
const FOLLOW_MS = 1_000;

function toAnchor(text: string): ChainEnd {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq !== undefined) return { seq: Number(seq), hash: hash! };
  throw new UsageError(`--anchor ${text} is not an anchor.`, 'Pass what "fleetloom audit --verify" has printed.');
}

function toSeq(text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,15}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new UsageError(`--after ${text} is not the number of an entry.`, 'Pass the seq of an entry.');
}
