import { createManualClock } from '../../base/clock.ts';
import { baseLimits } from '../../base/limits.ts';
import { smoothShare } from '../../base/loop-lag.ts';
import { Admission, type AdmissionKind } from './admission.ts';

/** The cost of a request on a machine at full speed: milliseconds of its processor, and turns of the event loop. */
export interface Costs {
  readonly arrivalMs: number;
  readonly request: { readonly ms: number; readonly turns: number };
  /** The background work after an accepted request. */
  readonly work: { readonly ms: number; readonly turns: number };
}

export interface SimulatedLoad {
  readonly kind: AdmissionKind;
  readonly costs: Costs;
  /** Where accepted requests are executed: in the event loop, or in a database while the event loop is idle. */
  readonly place: 'loop' | 'database';
  /** How many times slower the machine is. */
  readonly slowness: number;
  /** The rate of requests, as a multiple of the capacity of the machine. */
  readonly times: number;
  readonly durationMs: number;
}

export interface SimulatedResult {
  readonly acceptedMs: readonly number[];
  readonly rejectedMs: readonly number[];
  /** The share of the capacity that was used for accepted requests. */
  readonly used: number;
  readonly runningMax: number;
  /** Milliseconds from the last arrival until all work is done. */
  readonly recoveryMs: number;
}

/**
 * Simulates a server with one event loop in virtual time: it shows the behaviour of a real server on a machine
 * of the given slowness, without that machine.
 */
export async function simulateLoad({
  kind,
  costs,
  place,
  slowness,
  times,
  durationMs,
}: SimulatedLoad): Promise<SimulatedResult> {
  const clock = createManualClock();
  let dueAt = baseLimits.loopLagTickMs;
  let lastLag = 0;
  let busyShare = 0;
  let idleMs = 0;
  let tickedAt = 0;
  const admission = new Admission({
    kind,
    clock,
    delayMs: () => (kind === 'reads' ? 0 : Math.max(lastLag, clock.steady() - dueAt)),
    busyShare: () => busyShare,
    random: () => 0.5,
    onProblem: () => {},
  });
  const acceptedMs: number[] = [];
  const rejectedMs: number[] = [];
  let ready: Task[] = [];
  let running = 0;
  let runningMax = 0;
  const since = clock.steady();
  const stepMs = (costs.arrivalMs + costs.request.ms + costs.work.ms) * slowness;
  const gapMs = stepMs / times;
  let nextArrival = since;

  /** Responses of the database, in the order of their time. */
  const answers: { readonly at: number; readonly run: () => void }[] = [];
  const later = (ms: number, run: () => void) => void ready.push({ ms: ms * slowness, run });
  const ask = (ms: number, run: () => void) =>
    void answers.push({ at: Math.max(clock.steady(), answers.at(-1)?.at ?? 0) + ms * slowness, run });
  const work = place === 'loop' ? later : ask;
  const inTurns = (cost: { ms: number; turns: number }, then: () => void, left = cost.turns) => {
    work(cost.ms / cost.turns, () => (left > 1 ? inTurns(cost, then, left - 1) : then()));
  };
  const arrive = (at: number) => {
    const reject = () => void rejectedMs.push(clock.steady() - at);
    const begin = (leave: () => void) => {
      running += 1;
      runningMax = Math.max(runningMax, running);
      inTurns(costs.request, () => {
        leave();
        acceptedMs.push(clock.steady() - at);
        inTurns(costs.work, () => void (running -= 1));
      });
    };
    later(costs.arrivalMs / 2, () => {
      try {
        admission.check();
      } catch {
        return reject();
      }
      later(costs.arrivalMs / 2, () => void admission.enter(at).then(begin, reject));
    });
  };

  for (;;) {
    const now = clock.steady();
    for (; nextArrival <= now && nextArrival < since + durationMs; nextArrival += gapMs) arrive(nextArrival);
    while (answers[0] !== undefined && answers[0].at <= now) later(0, answers.shift()!.run);
    if (now >= dueAt) {
      lastLag = now - dueAt;
      busyShare = smoothShare(busyShare, 1 - idleMs / (now - tickedAt), now - tickedAt);
      idleMs = 0;
      tickedAt = now;
      dueAt = now + baseLimits.loopLagTickMs;
      admission.tick();
      await settle();
    }
    const isOver = nextArrival >= since + durationMs;
    if (isOver && ready.length === 0 && running === 0 && admission.waiting === 0) break;
    const batch = ready;
    ready = [];
    if (batch.length === 0) {
      const pauseMs = Math.min(isOver ? Infinity : nextArrival, dueAt, answers[0]?.at ?? Infinity) - now;
      idleMs += pauseMs;
      clock.advance(pauseMs);
    }
    for (const { ms, run } of batch) {
      clock.advance(ms);
      run();
    }
    await settle();
  }
  const used = (acceptedMs.length * stepMs) / durationMs;
  return { acceptedMs, rejectedMs, used, runningMax, recoveryMs: clock.steady() - since - durationMs };
}

/** The value that a share of the numbers does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

interface Task {
  readonly ms: number;
  readonly run: () => void;
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
}
