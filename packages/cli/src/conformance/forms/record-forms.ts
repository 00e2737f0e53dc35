import type {
  Agent,
  AgentReference,
  AgentSnapshot,
  AgentToolset,
  Budget,
  BuiltInToolConfig,
  Coordinator,
  CustomTool,
  DeletedEnvironment,
  DeletedFile,
  DeletedSession,
  Environment,
  ErrorBody,
  FileMetadata,
  FilePage,
  McpServer,
  McpToolset,
  ModelConfig,
  Multiagent20261001,
  Networking,
  Packages,
  PermissionPolicy,
  Session,
  SessionResource,
  SessionThread,
  Skill,
  Tool,
  Usage,
  Work,
  WorkHeartbeat,
  WorkQueueStats,
} from '@fleetloom/protocol/managed-agents';
import { builtInToolNames, effortLevels, errorStatuses, sessionStatuses } from '@fleetloom/protocol/managed-agents';
import {
  anyObject,
  bool,
  byType,
  type Form,
  id,
  json,
  like,
  list,
  literal,
  moment,
  nothing,
  nullable,
  object,
  optional,
  record,
  seconds,
  text,
  whole,
} from './form.ts';

// All responses except events.

const policy = byType<PermissionPolicy>({
  always_allow: object({ type: literal('always_allow') }),
  always_ask: object({ type: literal('always_ask') }),
  auto: object({ type: literal('auto') }),
});
const treatment = { enabled: bool, permission_policy: policy };

/** The web tools have more to configure than the others, so only the common fields are checked strictly here. */
const builtInConfig: Form<BuiltInToolConfig> = (value, path) => {
  const name = (value as { name?: string } | null)?.name;
  const isWeb = name === 'web_fetch' || name === 'web_search';
  const common = { name: literal(...builtInToolNames), type: literal(name ?? ''), ...treatment };
  const web = {
    allowed_domains: optional(list(text)),
    blocked_domains: optional(list(text)),
    url_sources: optional(json),
    max_content_tokens: optional(nullable(whole)),
    user_location: optional(json),
  };
  return object<object>(isWeb ? { ...common, ...web } : common)(value, path);
};

const toolset = object<AgentToolset>({
  type: literal('agent_toolset_20260401'),
  default_config: object(treatment),
  configs: list(builtInConfig),
});
const mcpToolset = object<McpToolset>({
  type: literal('mcp_toolset'),
  mcp_server_name: text,
  default_config: object(treatment),
  configs: list(object({ name: text, ...treatment })),
});
const customTool = object<CustomTool>({
  type: literal('custom'),
  name: text,
  description: text,
  // A JSON Schema, which may contain any field.
  input_schema: anyObject as Form<CustomTool['input_schema']>,
});
const tool = byType<Tool>({ agent_toolset_20260401: toolset, mcp_toolset: mcpToolset, custom: customTool });
const mcpServer = object<McpServer>({ type: literal('url'), name: text, url: text });
const skill = object<Skill>({ type: literal('anthropic', 'custom'), skill_id: text, version: text });

const model = object<ModelConfig>({
  id: text,
  effort: object({ type: literal(...effortLevels) }),
  speed: literal('standard', 'fast'),
  inference_geo: optional(text),
});

const snapshotFields = {
  type: literal('agent'),
  id: id('agent'),
  version: whole,
  name: text,
  description: nullable(text),
  system: nullable(text),
  model,
  tools: list(tool),
  mcp_servers: list(mcpServer),
  skills: list(skill),
  execution_identity: object({ type: literal('service_account') }),
} as const;
const snapshot: Form<AgentSnapshot> = object(snapshotFields);
const reference = object<AgentReference>({ type: literal('agent'), id: id('agent'), version: whole });

function multiagentOf<Member>(member: Form<Member>) {
  const disabled = object({ type: literal('disabled') });
  return byType<Coordinator<Member> | Multiagent20261001<Member>>({
    coordinator: object({ type: literal('coordinator'), agents: list(member) }),
    multiagent_20261001: object({
      type: literal('multiagent_20261001'),
      subagents: byType<Multiagent20261001<Member>['subagents']>({
        disabled,
        enabled: object({ type: literal('enabled'), predefined_agents: list(member), inline_agents: disabled }),
      }),
      workflows: disabled,
      advisor: disabled,
    }),
  });
}

const dates = { created_at: moment, updated_at: moment, archived_at: nullable(moment) } as const;

/** An agent, with its roster by reference. */
export const agentForm = object<Agent>({
  ...snapshotFields,
  multiagent: nullable(multiagentOf(reference)),
  metadata: record(text),
  ...dates,
});

const packages = object<Packages>({
  type: literal('packages'),
  apt: list(text),
  cargo: list(text),
  gem: list(text),
  go: list(text),
  npm: list(text),
  pip: list(text),
});
const networking = byType<Networking>({
  unrestricted: object({ type: literal('unrestricted') }),
  limited: object({
    type: literal('limited'),
    allowed_hosts: list(text),
    allow_mcp_servers: bool,
    allow_package_managers: bool,
  }),
});

export const environmentForm = object<Environment>({
  type: literal('environment'),
  id: id('env'),
  name: text,
  description: nullable(text),
  config: byType<Environment['config']>({
    cloud: object({ type: literal('cloud'), networking, packages }),
    self_hosted: object({ type: literal('self_hosted') }),
  }),
  metadata: record(text),
  scope: literal('organization'),
  ...dates,
});
export const deletedEnvironmentForm = object<DeletedEnvironment>({
  type: literal('environment_deleted'),
  id: id('env'),
});

const money = object({ amount: like(/^\d+$/, 'a whole number of cents as text'), currency: literal('USD') });
export const budgetForm = object<Budget>({ type: literal('limit'), max_list_cost: money });

/** Token usage of a session or thread; the cost is absent if the model's price is unknown. */
export const usageForm = object<Usage>({
  input_tokens: whole,
  output_tokens: whole,
  cache_read_input_tokens: whole,
  cache_creation: object({ ephemeral_5m_input_tokens: whole, ephemeral_1h_input_tokens: whole }),
  active_seconds: seconds,
  list_cost: optional(money),
  server_tool_use: optional(object({ web_fetch_requests: whole, web_search_requests: whole })),
});

const status = literal(...sessionStatuses);

/** The agent of a session, with the agents of its roster in full. */
export const sessionAgentForm = object<Session['agent']>({
  ...snapshotFields,
  multiagent: nullable(multiagentOf(snapshot)),
});

export const resourceForm = byType<SessionResource>({
  file: object({
    type: literal('file'),
    id: id('sesrsc'),
    file_id: id('file'),
    mount_path: text,
    created_at: moment,
    updated_at: moment,
  }),
  // Other servers may return these resources.
  github_repository: anyObject as never,
  memory_store: anyObject as never,
});
export const deletedResourceForm = object<{ type: string; id: string }>({
  type: literal('session_resource_deleted'),
  id: id('sesrsc'),
});

export const sessionForm = object<Session>({
  type: literal('session'),
  id: id('sesn'),
  agent: sessionAgentForm,
  environment_id: id('env'),
  title: nullable(text),
  status,
  metadata: record(text),
  resources: list(resourceForm),
  vault_ids: list(text),
  outcome_evaluations: list(anyObject) as unknown as Form<Session['outcome_evaluations']>,
  budget: nullable(budgetForm),
  stats: object({ active_seconds: seconds, duration_seconds: seconds }),
  usage: usageForm,
  deployment_id: nullable(text),
  ...dates,
});
export const deletedSessionForm = object<DeletedSession>({ type: literal('session_deleted'), id: id('sesn') });

export const threadForm = object<SessionThread>({
  type: literal('session_thread'),
  id: id('sthr'),
  session_id: id('sesn'),
  parent_thread_id: nullable(id('sthr')),
  agent: snapshot,
  status,
  stats: nullable(object({ active_seconds: seconds, duration_seconds: seconds, startup_seconds: seconds })),
  usage: nullable(usageForm),
  workflow_run_id: nothing,
  ...dates,
});

const workState = literal('queued', 'starting', 'active', 'stopping', 'stopped');

export const workForm = object<Work>({
  type: literal('work'),
  id: id('work'),
  environment_id: id('env'),
  data: object({ type: literal('session', 'healthcheck'), id: text }),
  state: workState,
  metadata: record(text),
  secret: nullable(text),
  created_at: moment,
  acknowledged_at: nullable(moment),
  started_at: nullable(moment),
  latest_heartbeat_at: nullable(moment),
  stop_requested_at: nullable(moment),
  stopped_at: nullable(moment),
});
export const workHeartbeatForm = object<WorkHeartbeat>({
  type: literal('work_heartbeat'),
  last_heartbeat: text,
  lease_extended: bool,
  state: workState,
  ttl_seconds: whole,
});
export const workStatsForm = object<WorkQueueStats>({
  type: literal('work_queue_stats'),
  depth: whole,
  pending: whole,
  oldest_queued_at: nullable(moment),
  workers_polling: nullable(whole),
});

export const fileForm = object<FileMetadata>({
  type: literal('file'),
  id: id('file'),
  filename: text,
  mime_type: text,
  size_bytes: whole,
  downloadable: bool,
  created_at: moment,
  expires_at: nullable(moment),
  scope: nullable(object({ type: literal('session'), id: id('sesn') })),
});
export const filePageForm = object<FilePage>({
  data: list(fileForm),
  next_page: nullable(text),
  has_more: bool,
  first_id: nullable(text),
  last_id: nullable(text),
});
export const deletedFileForm = object<DeletedFile>({ type: literal('file_deleted'), id: id('file') });

/** The error envelope. */
export const errorForm = object<ErrorBody>({
  type: literal('error'),
  error: object<ErrorBody['error']>({
    type: literal(...(Object.keys(errorStatuses) as (keyof typeof errorStatuses)[])),
    message: text,
    // Each code has its own fields.
    details: optional(anyObject as unknown as Form<NonNullable<ErrorBody['error']['details']>>),
  }),
  request_id: nullable(text),
});
