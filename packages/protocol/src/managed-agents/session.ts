import type { AgentReferenceParams, SkillParams } from './agent-snapshot.ts';
import type { DefineOutcomeEventParams, UserMessageEventParams } from './client-event.ts';
import type { ModelConfigParams } from './model.ts';
import type { PageParams } from './page.ts';
import type { SessionAgent } from './session-agent.ts';
import type { SessionResource, SessionResourceParams } from './resource.ts';
import type { McpServer, ToolParams } from './tool.ts';
import type { Budget, Usage } from './usage.ts';

/** A session. All fields are always present. Why it stopped is in the last `session.status_idle` event. */
export interface Session {
  readonly type: 'session';
  readonly id: string;
  readonly agent: SessionAgent;
  readonly environment_id: string;
  readonly title: string | null;
  readonly status: Status;
  readonly metadata: Readonly<Record<string, string>>;
  readonly resources: readonly SessionResource[];
  readonly vault_ids: readonly string[];
  readonly outcome_evaluations: readonly OutcomeEvaluation[];
  readonly budget: Budget | null;
  readonly stats: SessionStats;
  readonly usage: Usage;
  readonly deployment_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
}

/** The statuses of a session or a thread. `rescheduling`: a temporary failure is being retried. */
export const sessionStatuses = ['rescheduling', 'running', 'idle', 'terminated'] as const;
/** The status of a session or a thread. */
export type Status = (typeof sessionStatuses)[number];

/** Times of a session. */
export interface SessionStats {
  /** How long the threads ran, summed over all threads: two threads that run at the same time count twice, unlike in the usage. */
  readonly active_seconds: number;
  /** The time since the creation; for a terminated session, until its end. */
  readonly duration_seconds: number;
}

/** The evaluation of an outcome. */
export interface OutcomeEvaluation {
  readonly type: 'outcome_evaluation';
  readonly outcome_id: string;
  readonly description: string;
  readonly iteration: number;
  readonly result: string;
  readonly explanation: string | null;
  readonly completed_at: string | null;
}

/** The response to a deletion. */
export interface DeletedSession {
  readonly type: 'session_deleted';
  readonly id: string;
}

/** `POST /v1/sessions` */
export interface SessionCreateParams {
  readonly agent: SessionAgentParams;
  readonly environment_id: string;
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The first events. An empty list counts as absent: the session starts idle. */
  readonly initial_events?: readonly (UserMessageEventParams | DefineOutcomeEventParams)[];
  readonly resources?: readonly SessionResourceParams[];
  readonly vault_ids?: readonly string[];
  readonly budget?: Budget;
}

/** The agent of a session. An id alone means the newest version. */
export type SessionAgentParams = string | AgentReferenceParams | AgentWithOverridesParams;

/** An agent with parts of it replaced for one session. Each part is replaced as a whole. */
export interface AgentWithOverridesParams {
  readonly type: 'agent_with_overrides';
  readonly id: string;
  readonly version?: number;
  readonly model?: string | ModelConfigParams;
  readonly system?: string | null;
  readonly tools?: readonly ToolParams[];
  readonly mcp_servers?: readonly McpServer[];
  readonly skills?: readonly SkillParams[] | null;
}

/** `POST /v1/sessions/{id}`. Absent fields keep their value. */
export interface SessionUpdateParams {
  readonly title?: string | null;
  /** Merged key by key; null removes a key. */
  readonly metadata?: Readonly<Record<string, string | null>> | null;
  /** Changes of the agent, allowed only while the session does not run. */
  readonly agent?: SessionAgentUpdateParams;
  /** Null removes the budget. */
  readonly budget?: Budget | null;
  /** Always rejected; declared so that the error can state the reason. */
  readonly vault_ids?: readonly string[];
}

/** Each list is replaced as a whole. */
export interface SessionAgentUpdateParams {
  readonly tools?: readonly ToolParams[];
  readonly mcp_servers?: readonly McpServer[];
}

/** `GET /v1/sessions` */
export interface SessionListParams extends PageParams {
  /** The order; `desc` by default: newest first. */
  readonly order?: 'asc' | 'desc';
  readonly agent_id?: string;
  /** The version of the agent, used only with `agent_id`. */
  readonly agent_version?: number;
  readonly statuses?: readonly Status[];
  readonly include_archived?: boolean;
  readonly deployment_id?: string;
  readonly memory_store_id?: string;
  readonly 'created_at[gt]'?: string;
  readonly 'created_at[gte]'?: string;
  readonly 'created_at[lt]'?: string;
  readonly 'created_at[lte]'?: string;
}
