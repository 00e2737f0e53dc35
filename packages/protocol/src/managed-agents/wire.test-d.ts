import type * as agents from '@anthropic-ai/sdk/resources/beta/agents/agents';
import type * as agentVersions from '@anthropic-ai/sdk/resources/beta/agents/versions';
import type * as environments from '@anthropic-ai/sdk/resources/beta/environments/environments';
import type * as work from '@anthropic-ai/sdk/resources/beta/environments/work';
import type * as files from '@anthropic-ai/sdk/resources/beta/files';
import type * as models from '@anthropic-ai/sdk/resources/beta/models';
import type * as events from '@anthropic-ai/sdk/resources/beta/sessions/events';
import type * as resources from '@anthropic-ai/sdk/resources/beta/sessions/resources';
import type * as sessions from '@anthropic-ai/sdk/resources/beta/sessions/sessions';
import type * as threadEvents from '@anthropic-ai/sdk/resources/beta/sessions/threads/events';
import type * as threads from '@anthropic-ai/sdk/resources/beta/sessions/threads/threads';
import type * as shared from '@anthropic-ai/sdk/resources/shared';
import type {
  BidirectionalPageCursorResponse,
  PageCursorResponse,
  PageResponse,
} from '@anthropic-ai/sdk/core/pagination';
import type * as wire from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';

// Our types against those of the official SDK. What it reads of us: everything that we answer has to fit its types, and
// has no key that it does not know. What it sends us: everything that it lets its callers write has to fit our types.
// Where we differ on purpose it stands at the end, with the reason.

/** Ours are readonly down to the last list, the SDK's are not; on the wire that is the same. */
type Written<T> = T extends readonly (infer Item)[]
  ? Written<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Written<T[Key]> }
    : T;
/** Without what the SDK sends as headers or in the path. */
type Sent<T> = Omit<T, 'betas' | 'workspace_id' | 'environment_id' | 'session_id'>;
/** All keys that some form of a union has. */
type KeysOf<T> = T extends unknown ? keyof T : never;

// --- what we answer ---

expectTypeOf<Written<wire.Agent>>().toExtend<agents.BetaManagedAgentsAgent>();
expectTypeOf<keyof wire.Agent>().toEqualTypeOf<keyof agents.BetaManagedAgentsAgent>();
expectTypeOf<Written<wire.AgentSnapshot>>().toExtend<agents.BetaManagedAgentsSessionThreadAgent>();
expectTypeOf<keyof wire.AgentSnapshot>().toEqualTypeOf<keyof agents.BetaManagedAgentsSessionThreadAgent>();
expectTypeOf<Written<wire.SessionAgent>>().toExtend<sessions.BetaManagedAgentsSessionAgent>();
expectTypeOf<keyof wire.SessionAgent>().toEqualTypeOf<keyof sessions.BetaManagedAgentsSessionAgent>();
expectTypeOf<keyof wire.ModelConfig>().toEqualTypeOf<keyof agents.BetaManagedAgentsModelConfig>();
expectTypeOf<KeysOf<wire.BuiltInToolConfig>>().toEqualTypeOf<KeysOf<agents.BetaManagedAgentsAgentToolConfig>>();
expectTypeOf<wire.BuiltInToolName>().toEqualTypeOf<agents.BetaManagedAgentsAgentToolConfig['name']>();
expectTypeOf<KeysOf<wire.Tool>>().toEqualTypeOf<KeysOf<agents.BetaManagedAgentsAgent['tools'][number]>>();
expectTypeOf<KeysOf<wire.Multiagent>>().toEqualTypeOf<KeysOf<sessions.BetaManagedAgentsMultiagent>>();
expectTypeOf<keyof wire.Skill>().toEqualTypeOf<keyof agents.BetaManagedAgentsCustomSkill>();

expectTypeOf<Written<wire.Environment>>().toExtend<environments.BetaEnvironment>();
expectTypeOf<keyof wire.Environment>().toEqualTypeOf<keyof environments.BetaEnvironment>();
expectTypeOf<keyof wire.CloudConfig>().toEqualTypeOf<keyof environments.BetaCloudConfig>();
expectTypeOf<keyof wire.Packages>().toEqualTypeOf<keyof environments.BetaPackages>();
expectTypeOf<KeysOf<wire.Networking>>().toEqualTypeOf<KeysOf<environments.BetaCloudConfig['networking']>>();
expectTypeOf<Written<wire.DeletedEnvironment>>().toEqualTypeOf<environments.BetaEnvironmentDeleteResponse>();

expectTypeOf<Written<wire.Session>>().toExtend<sessions.BetaManagedAgentsSession>();
expectTypeOf<keyof wire.Session>().toEqualTypeOf<keyof sessions.BetaManagedAgentsSession>();
expectTypeOf<keyof wire.SessionStats>().toEqualTypeOf<keyof sessions.BetaManagedAgentsSessionStats>();
expectTypeOf<keyof wire.Usage>().toEqualTypeOf<keyof sessions.BetaManagedAgentsSessionUsage>();
expectTypeOf<keyof wire.CacheCreationUsage>().toEqualTypeOf<keyof sessions.BetaManagedAgentsCacheCreationUsage>();
expectTypeOf<keyof wire.ServerToolUsage>().toEqualTypeOf<keyof sessions.BetaManagedAgentsServerToolUsage>();
expectTypeOf<Written<wire.Budget>>().toEqualTypeOf<sessions.BetaManagedAgentsBudgetLimit>();
expectTypeOf<wire.Status>().toEqualTypeOf<sessions.BetaManagedAgentsSession['status']>();
// `setup` of a repository is ours.
expectTypeOf<Exclude<KeysOf<wire.SessionResource>, 'setup'>>().toEqualTypeOf<
  KeysOf<resources.BetaManagedAgentsSessionResource>
>();
expectTypeOf<Written<wire.DeletedSession>>().toEqualTypeOf<sessions.BetaManagedAgentsDeletedSession>();
expectTypeOf<Written<wire.FileResource>>().toEqualTypeOf<resources.BetaManagedAgentsFileResource>();
expectTypeOf<Written<wire.DeletedSessionResource>>().toEqualTypeOf<resources.BetaManagedAgentsDeleteSessionResource>();

expectTypeOf<Written<wire.SessionThread>>().toExtend<threads.BetaManagedAgentsSessionThread>();
expectTypeOf<keyof wire.SessionThread>().toEqualTypeOf<keyof threads.BetaManagedAgentsSessionThread>();
expectTypeOf<keyof wire.ThreadStats>().toEqualTypeOf<keyof threads.BetaManagedAgentsSessionThreadStats>();
expectTypeOf<keyof wire.Usage>().toEqualTypeOf<keyof threads.BetaManagedAgentsSessionThreadUsage>();
expectTypeOf<wire.Status>().toEqualTypeOf<threads.BetaManagedAgentsSessionThreadStatus>();

expectTypeOf<Written<wire.SentEvents>>().toExtend<events.BetaManagedAgentsSendSessionEvents>();
expectTypeOf<Written<wire.SessionEvent>>().toExtend<events.BetaManagedAgentsSessionEvent>();
expectTypeOf<Written<wire.StreamEvent>>().toExtend<events.BetaManagedAgentsStreamSessionEvents>();
expectTypeOf<Written<wire.StreamEvent>>().toExtend<threads.BetaManagedAgentsStreamSessionThreadEvents>();
expectTypeOf<wire.EventType>().toEqualTypeOf<events.BetaManagedAgentsSessionEventType>();
expectTypeOf<wire.SessionEvent['type']>().toExtend<wire.EventType>();
expectTypeOf<wire.DeltaType>().toEqualTypeOf<sessions.BetaManagedAgentsDeltaType>();
expectTypeOf<wire.SessionError['type']>().toEqualTypeOf<events.BetaManagedAgentsSessionErrorEvent['error']['type']>();
expectTypeOf<KeysOf<wire.SessionError>>().toEqualTypeOf<KeysOf<events.BetaManagedAgentsSessionErrorEvent['error']>>();
expectTypeOf<wire.StopReason['type']>().toEqualTypeOf<
  events.BetaManagedAgentsSessionStatusIdleEvent['stop_reason']['type']
>();

/** Event by event: each key of ours is one of theirs. */
type SameKeys = {
  [Type in wire.StreamEvent['type']]: [
    Exclude<
      keyof Extract<wire.StreamEvent, { readonly type: Type }>,
      keyof Extract<events.BetaManagedAgentsStreamSessionEvents, { type: Type }>
    >,
  ] extends [never]
    ? true
    : Type;
};
/** Two forms of ours stand for three types each. `Extract` does not find those, so their keys are compared below. */
type Joined = (wire.SessionStatusEvent | wire.ThreadStatusEvent)['type'];
expectTypeOf<Omit<SameKeys, Joined>[Exclude<keyof SameKeys, Joined>]>().toEqualTypeOf<true>();
expectTypeOf<keyof wire.SessionStatusEvent>().toEqualTypeOf<keyof events.BetaManagedAgentsSessionStatusRunningEvent>();
expectTypeOf<keyof wire.ThreadStatusEvent>().toEqualTypeOf<
  keyof events.BetaManagedAgentsSessionThreadStatusRunningEvent
>();

expectTypeOf<Written<wire.Work>>().toExtend<work.BetaSelfHostedWork>();
expectTypeOf<keyof wire.Work>().toEqualTypeOf<keyof work.BetaSelfHostedWork>();
expectTypeOf<Written<wire.WorkSecret>>().toEqualTypeOf<work.BetaWorkSecret>();
expectTypeOf<Written<wire.WorkHeartbeat>>().toEqualTypeOf<work.BetaSelfHostedWorkHeartbeatResponse>();
expectTypeOf<Written<wire.WorkQueueStats>>().toEqualTypeOf<work.BetaSelfHostedWorkQueueStats>();
expectTypeOf<Written<wire.WorkLeaseState>>().toEqualTypeOf<work.BetaWorkLeaseState>();
expectTypeOf<
  Written<Extract<wire.ErrorDetails, { readonly current_state: unknown }>>
>().toEqualTypeOf<work.BetaHeartbeatPreconditionFailedErrorDetails>();

expectTypeOf<Written<wire.FileMetadata>>().toExtend<files.BetaFileMetadata>();
expectTypeOf<keyof wire.FileMetadata>().toEqualTypeOf<keyof files.BetaFileMetadata>();
expectTypeOf<Written<wire.DeletedFile>>().toExtend<files.BetaDeletedFile>();
expectTypeOf<Written<wire.ModelInfo>>().toExtend<models.BetaModelInfo>();
expectTypeOf<keyof wire.ModelInfo>().toEqualTypeOf<keyof models.BetaModelInfo>();

expectTypeOf<Written<wire.Page<1>>>().toEqualTypeOf<PageCursorResponse<1>>();
expectTypeOf<Written<wire.BidirectionalPage<1>>>().toEqualTypeOf<BidirectionalPageCursorResponse<1>>();
expectTypeOf<Written<wire.IdPage<1>>>().toEqualTypeOf<PageResponse<1>>();
expectTypeOf<Written<wire.FilePage>>().toExtend<PageCursorResponse<files.BetaFileMetadata>>();

expectTypeOf<keyof wire.ErrorBody>().toEqualTypeOf<keyof shared.ErrorResponse>();
expectTypeOf<wire.ErrorBody['error']['type']>().toEqualTypeOf<
  // The service answers a body that is too large with this type, which the SDK knows by its status alone. The memory
  // stores, which have two types of their own, are not here.
  Exclude<shared.ErrorType, 'memory_precondition_failed_error' | 'memory_path_conflict_error'> | 'request_too_large'
>();
expectTypeOf<keyof typeof wire.detailStatuses>().toExtend<shared.ErrorDetails['error_code']>();

// --- what we are sent ---

expectTypeOf<Sent<agents.AgentCreateParams>>().toExtend<wire.AgentCreateParams>();
expectTypeOf<keyof Sent<agents.AgentCreateParams>>().toEqualTypeOf<keyof wire.AgentCreateParams>();
expectTypeOf<Sent<agents.AgentUpdateParams>>().toExtend<wire.AgentUpdateParams>();
expectTypeOf<keyof Sent<agents.AgentUpdateParams>>().toEqualTypeOf<keyof wire.AgentUpdateParams>();
expectTypeOf<Sent<agents.AgentRetrieveParams>>().toExtend<wire.AgentRetrieveParams>();
expectTypeOf<Sent<agents.AgentListParams>>().toExtend<wire.AgentListParams>();
expectTypeOf<keyof Sent<agents.AgentListParams>>().toEqualTypeOf<keyof wire.AgentListParams>();
expectTypeOf<Sent<agentVersions.VersionListParams>>().toExtend<wire.AgentVersionListParams>();

expectTypeOf<Sent<environments.EnvironmentCreateParams>>().toExtend<wire.EnvironmentCreateParams>();
expectTypeOf<keyof Sent<environments.EnvironmentCreateParams>>().toEqualTypeOf<keyof wire.EnvironmentCreateParams>();
expectTypeOf<Sent<environments.EnvironmentUpdateParams>>().toExtend<wire.EnvironmentUpdateParams>();
expectTypeOf<keyof Sent<environments.EnvironmentUpdateParams>>().toEqualTypeOf<keyof wire.EnvironmentUpdateParams>();
expectTypeOf<Sent<environments.EnvironmentListParams>>().toExtend<wire.EnvironmentListParams>();

/** A session's environment is in the body, not in the path. */
type SessionCreate = Omit<sessions.SessionCreateParams, 'betas' | 'workspace_id'>;
expectTypeOf<Omit<SessionCreate, 'initial_events'>>().toExtend<Omit<wire.SessionCreateParams, 'initial_events'>>();
expectTypeOf<keyof SessionCreate>().toEqualTypeOf<keyof wire.SessionCreateParams>();
expectTypeOf<Sent<sessions.SessionUpdateParams>>().toExtend<wire.SessionUpdateParams>();
expectTypeOf<keyof Sent<sessions.SessionUpdateParams>>().toEqualTypeOf<keyof wire.SessionUpdateParams>();
expectTypeOf<Sent<sessions.SessionListParams>>().toExtend<wire.SessionListParams>();
expectTypeOf<keyof Sent<sessions.SessionListParams>>().toEqualTypeOf<keyof wire.SessionListParams>();

expectTypeOf<
  Exclude<events.BetaManagedAgentsEventParams, { type: 'user.message' }>
>().toExtend<wire.ClientEventParams>();
expectTypeOf<wire.ClientEventParams['type']>().toEqualTypeOf<events.BetaManagedAgentsEventParams['type']>();
expectTypeOf<Sent<events.EventListParams>>().toExtend<wire.EventListParams>();
expectTypeOf<keyof Sent<events.EventListParams>>().toEqualTypeOf<keyof wire.EventListParams>();
expectTypeOf<Sent<events.EventStreamParams>>().toExtend<wire.EventStreamParams>();
expectTypeOf<Sent<threads.ThreadListParams>>().toExtend<wire.ThreadListParams>();
expectTypeOf<Sent<threadEvents.EventListParams>>().toExtend<wire.ThreadEventListParams>();
expectTypeOf<Sent<threadEvents.EventStreamParams>>().toExtend<wire.ThreadStreamParams>();
expectTypeOf<Sent<resources.ResourceAddParams>>().toExtend<wire.FileResourceParams>();
expectTypeOf<Sent<resources.ResourceUpdateParams>>().toExtend<wire.SessionResourceUpdateParams>();
expectTypeOf<Sent<resources.ResourceListParams>>().toExtend<wire.SessionResourceListParams>();

expectTypeOf<Sent<work.WorkPollParams>>().toExtend<wire.WorkPollParams>();
expectTypeOf<keyof Sent<work.WorkPollParams>>().toEqualTypeOf<keyof wire.WorkPollParams>();
expectTypeOf<Sent<work.WorkHeartbeatParams>>().toExtend<wire.WorkHeartbeatParams>();
expectTypeOf<keyof Sent<work.WorkHeartbeatParams>>().toEqualTypeOf<keyof wire.WorkHeartbeatParams>();
expectTypeOf<Sent<work.WorkStopParams>>().toExtend<wire.WorkStopParams>();
expectTypeOf<Sent<work.WorkUpdateParams>>().toExtend<wire.WorkUpdateParams>();
expectTypeOf<Sent<work.WorkListParams>>().toExtend<wire.WorkListParams>();
expectTypeOf<Sent<files.FileListParams>>().toExtend<wire.FileListParams>();
expectTypeOf<Sent<models.ModelListParams>>().toExtend<wire.ModelListParams>();

// --- where we differ on purpose ---

// A client cannot take out what it has not said: `redacted` blocks come from the server only.
type TheirBlock = events.BetaManagedAgentsUserMessageEventParams['content'][number];
expectTypeOf<Exclude<TheirBlock, { type: 'redacted' }>>().toExtend<wire.MessageBlock>();
expectTypeOf<TheirBlock>().not.toExtend<wire.MessageBlock>();

// Older clients name the thread of the call that they answer; 1.8.0 has no such key any more. The other keys are ours.
type Confirmation = Extract<wire.ClientEventParams, { readonly type: 'user.tool_confirmation' }>;
expectTypeOf<
  Exclude<keyof Confirmation, keyof events.BetaManagedAgentsUserToolConfirmationEventParams>
>().toEqualTypeOf<'session_thread_id' | 'rule' | 'updated_input' | 'interrupt'>();

// Overrides may clear the skills with null too, as the documentation says; the SDK has only the empty list for it.
expectTypeOf<null>().toExtend<wire.AgentWithOverridesParams['skills']>();

// We have no workflow runs, no advisors and no inline agents, and act only as ourselves: we never answer otherwise.
type Resolved = Extract<wire.Multiagent, { readonly type: 'multiagent_20261001' }>;
expectTypeOf<Resolved['workflows' | 'advisor']>().toEqualTypeOf<wire.Disabled>();
expectTypeOf<wire.SessionThread['agent']['type']>().toEqualTypeOf<'agent'>();
expectTypeOf<wire.Agent['execution_identity']['type']>().toEqualTypeOf<'service_account'>();
expectTypeOf<wire.Environment['scope']>().toEqualTypeOf<'organization'>();

// What the SDK calls optional and its documentation always present, we always give.
expectTypeOf<wire.ModelConfig>().toExtend<{ readonly effort: object; readonly speed: string }>();
expectTypeOf<wire.Usage>().toExtend<{ readonly input_tokens: number; readonly active_seconds: number }>();
expectTypeOf<wire.Session>().toExtend<{ readonly deployment_id: string | null }>();
