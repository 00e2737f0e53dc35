import { allChecks } from '../conformance/all-checks.ts';
import { chooseChecks } from '../conformance/choose-checks.ts';
import type { Target } from '../conformance/context.ts';
import { knownGaps } from '../conformance/known-gaps.ts';
import { officialSdk } from '../conformance/official-sdk.ts';
import { type Abilities, probe } from '../conformance/probe.ts';
import { drawReport, toReport } from '../conformance/report.ts';
import { runChecks } from '../conformance/run-checks.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { detectLook } from '../terminal/look.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';

export interface ConformanceOptions {
  key?: string;
  only?: string;
  json?: boolean;
  /** Repeats what is about chance many times. */
  thorough?: boolean;
}

/** `fleetloom conformance`: whether a server keeps the Managed Agents contract, asked with the official SDK. */
export async function conformance(io: Io, url: string, options: ConformanceOptions): Promise<number> {
  const target = { url: toBaseUrl(url), key: options.key ?? io.env['FLEETLOOM_KEY'] ?? 'none' };
  const checks = chooseChecks(allChecks, options.only);
  const abilities = await reach(target);
  const results = await runChecks({
    checks,
    target,
    sdk: officialSdk,
    abilities,
    isThorough: options.thorough ?? false,
  });
  const gaps = abilities.isFleetloom ? knownGaps : new Map<number, string>();
  const report = toReport({ url: target.url, sdk: officialSdk.name }, results, gaps);
  const text = options.json === true ? `${JSON.stringify(report, null, 2)}\n` : drawReport(report, detectLook(io));
  await writeText(io.stdout, text);
  return report.ok ? exitCode.ok : exitCode.failed;
}

function toBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`"${text}" is no address of a server.`, 'Give its base URL, such as http://127.0.0.1:4280.');
  }
  return url.href.replace(/\/+$/, '');
}

async function reach(target: Target): Promise<Abilities> {
  try {
    return await probe(target, officialSdk);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${target.url} cannot be asked: ${reason}`, 'Check the address, and give the key with --key.');
  }
}
