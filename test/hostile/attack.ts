import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { isLong } from '../support/seed.ts';
import { type CanaryReport, watchCanary } from './canary.ts';
import { startVictim, type Victim, type VictimOptions } from './victim.ts';

export interface AttackOptions extends VictimOptions {
  /** Lines of standard error that this attack is meant to cause, although they look like a defect. */
  readonly expected?: RegExp | undefined;
  /** Descriptors that the server may have open afterwards although it had not before. */
  readonly descriptorsMore?: number;
  /** How long `/healthz` may take, where that is more than usual. */
  readonly healthMsMax?: number | undefined;
}

/** Runs work against a new server with another tenant's session on it, and checks everything that must hold whatever the work does. */
export async function attack(
  { expected, descriptorsMore, healthMsMax, ...options }: AttackOptions,
  work: (victim: Victim) => Promise<void>,
): Promise<CanaryReport> {
  const victim = await startVictim(options);
  try {
    const canary = await watchCanary(victim);
    const before = await settled(victim);
    await work(victim);
    const report = await canary.stop();
    expectHealthy(victim, report, { expected, healthMsMax });
    await expectBack(victim, before, descriptorsMore);
    expect(await victim.stop()).toBe(0);
    return report;
  } finally {
    await victim.close();
  }
}

function expectHealthy(
  victim: Victim,
  report: CanaryReport,
  { expected, healthMsMax = 0 }: Pick<AttackOptions, 'expected' | 'healthMsMax'>,
): void {
  console.log(`canary: ${JSON.stringify(report)}`);
  expect({ exit: victim.exit(), stderr: problemsIn(victim, expected) }).toEqual({ exit: undefined, stderr: [] });
  expect(report.problems).toEqual([]);
  expect(report.turns).toBeGreaterThan(0);
  expect(report.healthMs.failures).toEqual([]);
  // On a machine that runs other tests at the same time; the long form is run alone and is strict.
  expect(report.healthMs.p99).toBeLessThan(Math.max(healthMsMax, isLong ? 250 : 1_500));
  expect(report.healthMs.longestGap).toBeLessThan(Math.max(healthMsMax, isLong ? 1_000 : 5_000));
}

interface Footprint {
  readonly descriptors: number;
  readonly processes: number;
  readonly residentMb: number;
}

/** Checks that descriptors, processes and memory are at their values before the attack. */
async function expectBack(victim: Victim, start: Footprint, descriptorsMore = 5): Promise<void> {
  const before = { ...start, descriptors: start.descriptors + descriptorsMore };
  const after = await settled(victim, before);
  console.log(`before: ${JSON.stringify(before)} after: ${JSON.stringify(after)}`);
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
  expect(after.processes).toBeLessThanOrEqual(before.processes);
  expect(after.residentMb).toBeLessThan(before.residentMb + RESIDENT_MB_MORE);
}

/** Memory that the allocator keeps after the largest attacks. A leak is larger: it grows with each of thousands of requests. */
const RESIDENT_MB_MORE = 250;

/** What the process has open, once it no longer changes or is back at the goal. Garbage is collected only some time after the last request. */
async function settled(victim: Victim, goal?: Footprint): Promise<Footprint> {
  const look = () => ({
    descriptors: victim.descriptors(),
    processes: victim.processes().length,
    residentMb: Math.round(victim.residentBytes() / 1_048_576),
  });
  let now = look();
  for (let count = 0; count < 60; count++) {
    await wait(500);
    const next = look();
    if (isBack(next, goal) || (goal === undefined && next.descriptors === now.descriptors)) return next;
    now = next;
  }
  return now;
}

function isBack(now: Footprint, goal: Footprint | undefined): boolean {
  if (goal === undefined || now.descriptors > goal.descriptors || now.processes > goal.processes) return false;
  return now.residentMb < goal.residentMb + RESIDENT_MB_MORE;
}

function problemsIn(victim: Victim, expected?: RegExp): string[] {
  return victim
    .stderr()
    .split('\n')
    .filter((line) => /unexpected|uncaught|unhandled|heap|FATAL/i.test(line) && expected?.test(line) !== true);
}
