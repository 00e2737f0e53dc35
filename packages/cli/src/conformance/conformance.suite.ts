import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { allChecks } from './all-checks.ts';
import type { Check } from './harness/check.ts';
import type { Sdk, Target } from './harness/context.ts';
import { isBad } from './judge.ts';
import { knownGaps } from './known-gaps.ts';
import { probe } from './probe.ts';
import { type Report, toReport } from './report.ts';
import { runChecks } from './run-checks.ts';

/** How long the whole checklist may take: minutes on a busy machine. */
export const SUITE_MS = process.env['FLEETLOOM_LONG'] === '1' ? 3_600_000 : 900_000;

/** Runs all checks against a Fleetloom server that requires a key. */
export async function reportOurServer(sdk: Sdk): Promise<Report> {
  const directory = await makeDirectory();
  const server = await startServer({ dataDirectory: directory, onProblem: (problem) => console.error(problem) });
  try {
    return await reportOn({ url: server.url, key: server.firstKey! }, sdk, allChecks);
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

export async function reportOn(target: Target, sdk: Sdk, checks: readonly Check[]): Promise<Report> {
  const abilities = await probe(target, sdk);
  const isThorough = process.env['FLEETLOOM_LONG'] === '1';
  // Timeouts of a busy machine are not failures of the server.
  const checkMs = SUITE_MS - 60_000;
  const results = await runChecks({ checks, target, sdk, abilities, isThorough, isCleared: false, checkMs });
  return toReport({ url: target.url, sdk: sdk.name }, results, knownGaps);
}

/** A data directory, in memory if possible: the speed of a busy disk is not a property of the server. */
export function makeDirectory(): Promise<string> {
  return mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'fleetloom-conformance-'));
}

/** The failed checks, for the message of the test. */
export function failuresOf({ checks }: Report): readonly object[] {
  return checks.filter(isBad);
}

export function numbersOf({ checks }: Report, type: Report['checks'][number]['type']): readonly number[] {
  return checks.filter((each) => each.type === type).map(({ number }) => number);
}
