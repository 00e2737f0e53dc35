import { listFleetSessions, type ListFleetSessionsOptions } from '@fleetloom/client';
import type { FleetSessionList, FleetSessionQuery } from '@fleetloom/protocol/fleet';
import { expectTypeOf } from 'vitest';

expectTypeOf(listFleetSessions).returns.toEqualTypeOf<Promise<FleetSessionList>>();
expectTypeOf(listFleetSessions).parameter(0).toEqualTypeOf<string>();
expectTypeOf(listFleetSessions).parameter(1).toEqualTypeOf<FleetSessionQuery | undefined>();
expectTypeOf(listFleetSessions).parameter(2).toEqualTypeOf<ListFleetSessionsOptions | undefined>();
// @ts-expect-error: the list is read from a server
void listFleetSessions();
