import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { toProgramModelName } from '../../program-model-name.ts';
import type { SettingsChoice } from '../../program.ts';
import { hasUnaskedSearch, SEARCH } from '../approvals/call-policy.ts';

/** The endpoint of the model requests of a session's own Codex. */
export interface ModelEndpoint {
  /** The base URL, which contains the secret of the gateway. */
  readonly baseURL: string;
  readonly retriesMax: number;
}

/** `config.toml` of a session's own Codex. It holds the secret of the gateway, which must not be on the command line. */
export function toConfigFile(endpoint: ModelEndpoint | null): string {
  const lines = [
    'check_for_update_on_startup = false',
    'suppress_unstable_features_warning = true',
    ...(endpoint === null ? [] : [`model_provider = ${toToml(PROVIDER)}`]),
    '[analytics]',
    'enabled = false',
    '[features]',
    ...OFF.map((feature) => `${feature} = false`),
    // The model may ask people questions in any mode, not only while it plans.
    'default_mode_request_user_input = true',
    ...(endpoint === null ? [] : toProvider(endpoint)),
  ];
  return `${lines.join('\n')}\n`;
}

/** Features that connect to other services. */
const OFF = ['plugins', 'apps', 'remote_plugin', 'plugin_sharing'];

const PROVIDER = 'fleetloom';

function toProvider({ baseURL, retriesMax }: ModelEndpoint): string[] {
  return [
    `[model_providers.${PROVIDER}]`,
    `name = ${toToml('Fleetloom')}`,
    `base_url = ${toToml(`${baseURL}/v1`)}`,
    'wire_api = "responses"',
    // Retries of requests are not reported, so all retries are made as retries of streams.
    'request_max_retries = 0',
    `stream_max_retries = ${retriesMax}`,
  ];
}

/** The settings of the definitions as a command line, which has precedence over every file. */
export function toArguments(options: {
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  readonly depthMax: number;
  readonly settings?: SettingsChoice | undefined;
  /** The file of each member's role, by its name. */
  readonly roleFiles: ReadonlyMap<string, string>;
}): string[] {
  const { agent, members, depthMax, settings: loaded = 'none', roleFiles } = options;
  const hasSearch = hasUnaskedSearch(agent);
  const settings: Record<string, string> = {
    // Zero is not a depth for Codex.
    ...(depthMax === 0 ? { 'features.multi_agent': 'false' } : { 'agents.max_depth': String(depthMax) }),
    // AGENTS.md of the workspace is a setting of the project.
    ...(loaded === 'none' ? { project_doc_max_bytes: '0' } : {}),
    // The endpoint runs the search, so it cannot wait for an approval.
    ...(hasSearch ? {} : { [SEARCH]: toToml('disabled') }),
  };
  for (const { name, description } of members) {
    const file = roleFiles.get(name);
    if (file === undefined) continue;
    settings[`agents.${name}.description`] = toToml(description ?? `The agent ${name}.`);
    settings[`agents.${name}.config_file`] = toToml(file);
  }
  return ['app-server', ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])];
}

/** The file of a member's role; null for a name that is not a bare key of TOML. */
export function toRole({ name, system, model: { id } }: AgentSnapshot): { name: string; content: string } | null {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return null;
  const model = id.startsWith(OWN_MODELS) ? toProgramModelName(id) : null;
  const lines = [
    `developer_instructions = ${toToml(system ?? `You are ${name}.`)}`,
    ...(model === null ? [] : [`model = ${toToml(model)}`]),
  ];
  // A plain name, not a path: agents could replace a directory by a link.
  return { name: `codex-role-${name}.toml`, content: `${lines.join('\n')}\n` };
}

const OWN_MODELS = 'codex/';

/** A basic string of TOML has the escapes of JSON. DEL has to be escaped in TOML only. */
function toToml(value: string): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
