import type { FleetEvent, GateMode } from '@fleetloom/protocol/fleet';
import {
  type ConnectionState,
  type FleetWatch,
  type Schedule,
  type WatchFleetCode,
  WatchFleetError,
  type WatchFleetOptions,
  watchFleet,
} from '@fleetloom/client';
import { expectTypeOf } from 'vitest';

expectTypeOf(watchFleet).toEqualTypeOf<(options: WatchFleetOptions) => FleetWatch>();
expectTypeOf<WatchFleetOptions>().toEqualTypeOf<{
  readonly url: string | URL;
  readonly session?: string;
  readonly after?: string;
  readonly from?: 'live';
  readonly follow?: boolean;
  readonly include?: readonly ('thinking' | 'sessions')[];
  readonly gate?: GateMode;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly retriesMax?: number;
  readonly eventBytesMax?: number;
  readonly onConnection?: (state: ConnectionState) => void;
  readonly fetch?: typeof fetch;
  readonly random?: () => number;
  readonly schedule?: Schedule;
}>();
expectTypeOf<Schedule>().toEqualTypeOf<(callback: () => void, ms: number) => () => void>();

export async function reads(url: string): Promise<void> {
  const watching = watchFleet({ url });
  for await (const event of watching) expectTypeOf(event).toEqualTypeOf<FleetEvent>();
  expectTypeOf(watching.cursor).toEqualTypeOf<string | null>();
  // @ts-expect-error: it is read, not set
  watching.cursor = '7';
  // @ts-expect-error: absent, not undefined
  watchFleet({ url, session: undefined });
  // @ts-expect-error: where to?
  watchFleet({});
}

export function isExhaustive(state: ConnectionState): number {
  // @ts-expect-error: only who waits knows for how long
  void state.waitMs;
  return state.type === 'waiting' ? state.waitMs : 0;
}

expectTypeOf<WatchFleetError>().toExtend<Error>();
expectTypeOf<WatchFleetError['code']>().toEqualTypeOf<WatchFleetCode>();
expectTypeOf<WatchFleetError['status']>().toEqualTypeOf<number | null>();
