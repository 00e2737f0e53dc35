import { isDeepStrictEqual } from 'node:util';
import { RandomText } from '../../../../../bench/random-text.ts';
import type { FrameType } from '../../frames/frames.ts';
import type { Store } from '../../store/store.ts';
import { evolve } from '../evolve.ts';
import { decodeState, encodeState } from '../saved-state.ts';
import { findUnrest, fold, readFrames } from './check-session.suite.ts';
import { workspaceId } from './fleet.suite.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.suite.ts';
import { actWildly, beginWildSession, helpAll, waitUntilStill } from './wild-client.suite.ts';
import { WildFleet } from './wild-fleet.suite.ts';

export type OpenStore = (time: VirtualTime, run: number) => Store | Promise<Store>;

/** Looks at what a run has left, before its store is closed. */
export type Inspect = (store: Store, sessionIds: readonly string[], random: RandomText) => Promise<void>;

/**
 * One run is told by its seed alone, so the seed of a bad one repeats it as the first. Gives back what has happened in it,
 * by type.
 */
export async function runWildly(
  runSeed: number,
  openStore: OpenStore,
  inspect: Inspect = async () => {},
): Promise<ReadonlySet<FrameType>> {
  const time = createVirtualTime();
  const store = await openStore(time, runSeed);
  const fleet = new WildFleet({ random: new RandomText(runSeed), store, time });
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

async function live(fleet: WildFleet): Promise<void> {
  await fleet.start();
  await beginWildSession(fleet);
  if (fleet.random.below(4) === 0) await beginWildSession(fleet);
  const acts = 5 + fleet.random.below(40);
  for (let act = 0; act < acts && fleet.problems.length === 0; act++) {
    await actWildly(fleet);
    await fleet.check();
  }
  fleet.story.push('the end');
  do {
    await waitUntilStill(fleet);
    await fleet.check();
    for (const sessionId of fleet.sessionIds) {
      fleet.problems.push(...(await findUnrest(fleet.store, { workspaceId, sessionId })));
    }
  } while (fleet.problems.length === 0 && (await helpAll(fleet)));
  for (const sessionId of fleet.sessionIds) await checkFolds(fleet, sessionId);
  await fleet.close();
}

/** Whoever stops anywhere and goes on from there knows in the end what everybody knows. */
async function checkFolds(fleet: WildFleet, sessionId: string): Promise<void> {
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
