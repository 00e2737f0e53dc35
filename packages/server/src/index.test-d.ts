import {
  type Clock,
  createIds,
  createManualClock,
  type ErrorKind,
  findGit,
  findOrphanedWorktrees,
  FleetloomError,
  type FleetloomErrorFields,
  type FoundGit,
  type Id,
  type IdPrefix,
  type Ids,
  type IdSources,
  limits,
  type ManualClock,
  type OrphanedWorktree,
  systemClock,
} from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

// --- time ---

expectTypeOf<Clock>().toEqualTypeOf<{ now: () => number; steady: () => number }>();
expectTypeOf(systemClock).toEqualTypeOf<Clock>();
expectTypeOf(createManualClock).toEqualTypeOf<(startMs?: number) => ManualClock>();
expectTypeOf<ManualClock>().toExtend<Clock>();
// @ts-expect-error: the system clock cannot be advanced
systemClock.advance(1);

// --- ids ---

expectTypeOf<IdSources>().toEqualTypeOf<{ now: () => number; random: () => number }>();
expectTypeOf(createIds).toEqualTypeOf<(sources: IdSources) => Ids>();
createIds({ now: systemClock.now, random: Math.random });
// @ts-expect-error: chance is handed in, like time
createIds({ now: Date.now });

export function makes(ids: Ids): void {
  expectTypeOf(ids.next('sevt')).toEqualTypeOf<`sevt_${string}`>();
  expectTypeOf<Id<'sevt'>>().toEqualTypeOf<`sevt_${string}`>();
  expectTypeOf<Id<'sevt'>>().toExtend<Id>();
  expectTypeOf<Id<'sesn'>>().not.toExtend<Id<'sevt'>>();
  expectTypeOf<'sevt'>().toExtend<IdPrefix>();
  // @ts-expect-error: nothing has such ids
  ids.next('event');
}

// --- errors ---

expectTypeOf<ErrorKind>().toEqualTypeOf<'caller' | 'retryable' | 'terminal'>();
expectTypeOf(FleetloomError).constructorParameters.toEqualTypeOf<[fields: FleetloomErrorFields]>();
expectTypeOf<FleetloomError>().toExtend<Error>();
expectTypeOf<Pick<FleetloomError, 'code' | 'kind'>>().toEqualTypeOf<{
  readonly code: string;
  readonly kind: ErrorKind;
}>();
// @ts-expect-error: an error that says not what to do cannot be made
void new FleetloomError({ code: 'a', kind: 'caller', problem: 'b' });
// @ts-expect-error: only http knows a status
void new FleetloomError({ code: 'a', kind: 'caller', problem: 'b', advice: 'c', status: 400 });

// --- limits ---

expectTypeOf<typeof limits>().toExtend<{ readonly errorMessageCharsMax: number; readonly idTimeMsMax: number }>();
// @ts-expect-error: shared limits are readonly
limits.idTimeMsMax = 1;

// --- workspaces ---

expectTypeOf(findGit).returns.resolves.toEqualTypeOf<FoundGit>();
expectTypeOf<FoundGit['type']>().toExtend<string>();
expectTypeOf(findOrphanedWorktrees).toEqualTypeOf<(dataDirectory: string) => Promise<readonly OrphanedWorktree[]>>();
expectTypeOf<OrphanedWorktree>().toEqualTypeOf<{
  readonly repository: string | null;
  readonly workspace: string;
  readonly problem: string;
}>();
