import {
  type BuiltInToolName,
  builtInToolNames,
  builtInTools,
  type BuiltInToolTraits,
  findBuiltInTool,
  type WebToolName,
  type WorkspaceToolName,
  type DeltaType,
  deltaTypes,
  detailStatuses,
  type EffortLevel,
  type ErrorType,
  type EventType,
  effortLevels,
  errorStatuses,
  eventTypes,
  type IdPrefix,
  idPrefixes,
  type PackageManager,
  packageManagers,
  type RosterMember,
  type SessionEvent,
  type SessionMultiagent,
  type Status,
  type StreamEvent,
  type ToolResultParams,
  sessionStatuses,
  toRoster,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';

// wire.test-d.ts compares the types with the official SDK's; here is what can be called and looked up.

expectTypeOf(toRoster).toEqualTypeOf<(multiagent: SessionMultiagent | null) => readonly RosterMember[]>();

expectTypeOf<(typeof builtInToolNames)[number]>().toEqualTypeOf<BuiltInToolName>();
expectTypeOf<(typeof deltaTypes)[number]>().toEqualTypeOf<DeltaType>();
expectTypeOf<(typeof effortLevels)[number]>().toEqualTypeOf<EffortLevel>();
expectTypeOf<(typeof eventTypes)[number]>().toEqualTypeOf<EventType>();
expectTypeOf<(typeof packageManagers)[number]>().toEqualTypeOf<PackageManager>();
expectTypeOf<(typeof sessionStatuses)[number]>().toEqualTypeOf<Status>();
expectTypeOf<(typeof idPrefixes)['session']>().toEqualTypeOf<'sesn'>();
expectTypeOf<ToolResultParams['is_error']>().toEqualTypeOf<boolean | null | undefined>();
expectTypeOf<IdPrefix>().toExtend<string>();
expectTypeOf<keyof typeof errorStatuses>().toEqualTypeOf<ErrorType>();
expectTypeOf<(typeof errorStatuses)['conflict_error']>().toEqualTypeOf<409>();
expectTypeOf<(typeof detailStatuses)['environment_archived']>().toEqualTypeOf<400>();

export function isExhaustive(event: StreamEvent): SessionEvent | undefined {
  switch (event.type) {
    case 'event_start':
    case 'event_delta':
      // @ts-expect-error: what lasts for a moment has no time
      void event.processed_at;
      return undefined;
    case 'session.deleted':
      return undefined;
    default:
      expectTypeOf(event).toEqualTypeOf<SessionEvent>();
      return event;
  }
}

// @ts-expect-error: a shared constant cannot be changed
errorStatuses.conflict_error = 400;
expectTypeOf<keyof typeof builtInTools>().toEqualTypeOf<BuiltInToolName>();
expectTypeOf<BuiltInToolName>().toEqualTypeOf<WorkspaceToolName | WebToolName>();
expectTypeOf(findBuiltInTool).toEqualTypeOf<(name: string) => BuiltInToolTraits | undefined>();
