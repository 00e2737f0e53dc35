import type { ChainEnd } from '@fleetloom/server';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { onEndingSignal } from '../base/until-signal.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { type AuditPage, verifyAudit } from './verify-audit.ts';

/** Options of `audit`. */
export interface AuditOptions extends ConnectionOptions {
  verify?: boolean;
  anchor?: string;
  after?: string;
  follow?: boolean;
}

/** `fleetloom audit`: prints entries as JSON lines; with --verify only the problems and the newest entry. */
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
  const { problems, head } = await verifyAudit((after) => read(api, after), anchor);
  for (const problem of problems) io.stderr.write(`✗ ${problem}\n`);
  if (problems.length > 0) return exitCode.failed;
  io.stderr.write(`Every entry matches. Keep the anchor of the newest one elsewhere:\n`);
  await writeText(io.stdout, `${head.seq}:${head.hash}\n`);
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
