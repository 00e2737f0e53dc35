import { cleanLine } from '@fleetloom/protocol/text';
import { toConnection } from '../connection/connection.ts';
import { allChecks } from './all-checks.ts';
import { chooseChecks } from './choose-checks.ts';
import type { Target } from './harness/context.ts';
import { knownGaps } from './known-gaps.ts';
import { officialSdk } from './harness/official-sdk.ts';
import { type Abilities, probe } from './probe.ts';
import { drawReport, toReport } from './report.ts';
import { runChecks } from './run-checks.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { detectLook } from '../terminal/look.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';

/** Flags of `fleetloom conformance`. */
export interface ConformanceOptions {
  key?: string;
  only?: string;
  json?: boolean;
  /** Repeats the checks that depend on timing many times. */
  thorough?: boolean;
}

/** `fleetloom conformance`: checks with the official SDK whether a server implements the Managed Agents API. */
export async function conformance(io: Io, url: string, options: ConformanceOptions): Promise<number> {
  const { url: base, key = 'none' } = toConnection(io.env, {
    url,
    ...(options.key === undefined ? {} : { key: options.key }),
  });
  const target = { url: base, key };
  const checks = chooseChecks(allChecks, options.only);
  const abilities = await reach(target);
  const results = await runChecks({
    checks,
    target,
    sdk: officialSdk,
    abilities,
    isThorough: options.thorough ?? false,
    onResult: showProgress(io, checks.length),
  });
  hideProgress(io);
  const gaps = abilities.isFleetloom ? knownGaps : new Map<number, string>();
  const report = toReport({ url: target.url, sdk: officialSdk.name }, results, gaps);
  const text = options.json === true ? `${JSON.stringify(report, null, 2)}\n` : drawReport(report, detectLook(io));
  await writeText(io.stdout, text);
  return report.ok ? exitCode.ok : exitCode.failed;
}

/** Progress on standard error, because a run takes a while. */
function showProgress(io: Io, all: number): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (io.stderr.isTTY === true) io.stderr.write(`\r${count} of ${all}`);
  };
}

function hideProgress(io: Io): void {
  if (io.stderr.isTTY === true) io.stderr.write('\r\u001b[K');
}

async function reach(target: Target): Promise<Abilities> {
  try {
    return await probe(target, officialSdk);
  } catch (error) {
    if (statusOf(error) === 401) {
      const why = target.key === 'none' ? 'asks for a key' : 'does not know this key';
      throw new UsageError(`The server at ${target.url} ${why}.`, 'Give one of its keys with --key or FLEETLOOM_KEY.');
    }
    const reason = cleanLine(error instanceof Error ? error.message : String(error));
    throw new UsageError(`${target.url} cannot be asked: ${reason}`, 'Check the address, and that its server runs.');
  }
}

function statusOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
}
