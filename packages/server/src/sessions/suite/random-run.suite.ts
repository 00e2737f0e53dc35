import { isDeepStrictEqual } from 'node:util';
import { RandomText } from '../../../../../bench/random-text.ts';
import type { FrameType } from '../../frames/frames.ts';
import type { Store } from '../../store/store.ts';
import { evolve } from '../core/state/evolve.ts';
import { decodeState, encodeState } from '../core/state/saved-state.ts';
import { findUnsettled, fold, readFrames } from './check-session.suite.ts';
import { workspaceId } from './fleet.suite.ts';
import { createWildPrograms } from '../runtime/program/wild-programs.suite.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.suite.ts';
import { actRandomly, startRandomSession, helpAll, waitUntilStill } from './random-client.suite.ts';
import { RandomFleet } from './random-fleet.suite.ts';

/** Opens the store of one random run. */
export type OpenStore = (time: VirtualTime, run: number) => Store | Promise<Store>;

/** Looks at what a run has left, before its store is closed. */
export type Inspect = (store: Store, sessionIds: readonly string[], random: RandomText) => Promise<void>;

/**
 * A run depends on its seed alone, so the seed of a failed run repeats it. Returns what has happened in it,
 * by type. `hasPrograms`: some agents run on programs.
 */
export async function runRandomFleet(
  runSeed: number,
  openStore: OpenStore,
  inspect: Inspect = async () => {},
  hasPrograms = false,
): Promise<ReadonlySet<FrameType>> {
  const time = createVirtualTime();
  const store = await openStore(time, runSeed);
  const random = new RandomText(runSeed);
  const programs = hasPrograms ? createWildPrograms({ random, time, isAsking: true }) : undefined;
  const fleet = new RandomFleet({ random, store, time, programs });
  try {
    await live(fleet);
    await inspect(store, fleet.sessionIds, fleet.random);
  } catch (error) {
    fleet.problems.push(`it broke: ${error instanceof Error ? error.stack : String(error)}`);
  }
  await store.close();
  if (fleet.problems.length === 0) return fleet.types;
  const story = fleet.story.slice(-40).join('\n  ');
  const problems = [...new Set(fleet.problems)].slice(0, 20).join('\n  ');
  throw new Error(
    `FLEETLOOM_SEED=${runSeed} npm test -- sessions/property repeats it\n  ${problems}\nafter\n  ${story}`,
  );
}

async function live(fleet: RandomFleet): Promise<void> {
  await fleet.start();
  await startRandomSession(fleet);
  if (fleet.random.below(4) === 0) await startRandomSession(fleet);
  const acts = 5 + fleet.random.below(40);
  for (let act = 0; act < acts && fleet.problems.length === 0; act++) {
    await actRandomly(fleet);
    await fleet.check();
  }
  fleet.story.push('the end');
  do {
    await waitUntilStill(fleet);
    await fleet.check();
    for (const sessionId of fleet.sessionIds) {
      fleet.problems.push(...(await findUnsettled(fleet.store, { workspaceId, sessionId })));
    }
  } while (fleet.problems.length === 0 && (await helpAll(fleet)));
  for (const sessionId of fleet.sessionIds) await checkFolds(fleet, sessionId);
  await fleet.close();
}

/** A reader that stops anywhere and resumes there ends with the same frames as every other reader. */
async function checkFolds(fleet: RandomFleet, sessionId: string): Promise<void> {
  const frames = await readFrames(fleet.store, sessionId);
  for (const { type } of frames) fleet.types.add(type);
  const whole = fold(sessionId, frames);
  for (let round = 0; round < 3; round++) {
    const cursor = 1 + fleet.random.below(frames.length);
    const half = fold(sessionId, frames.slice(0, cursor));
    const kept = await decodeState((await encodeState(half))!);
    for (const state of [structuredClone(half), kept]) {
      for (const frame of frames.slice(cursor)) evolve(state, frame);
      if (!isDeepStrictEqual(state, whole)) fleet.problems.push(`a fold that stopped at ${cursor} is another one`);
    }
  }
}
