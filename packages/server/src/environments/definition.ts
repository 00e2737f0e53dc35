import type {
  EnvironmentConfig,
  EnvironmentCreateParams,
  EnvironmentResource,
  EnvironmentScopeParams,
  EnvironmentResourcesParams,
  EnvironmentUpdateParams,
  EnvironmentWithResources,
} from '@fleetloom/protocol/managed-agents';
import { findExcessBytes } from '../base/json/json-bytes.ts';
import { baseLimits } from '../base/limits.ts';
import type { EnvironmentRecord } from '../store/records.ts';
import { environmentError } from './environment-errors.ts';
import { toConfig } from './to-config.ts';

/** An environment as it is stored. */
export interface EnvironmentDefinition {
  readonly name: string;
  readonly description: string | null;
  readonly config: EnvironmentConfig;
  readonly metadata: Readonly<Record<string, string>>;
  /** Default resources of its sessions; absent without any. */
  readonly resources?: readonly EnvironmentResource[];
}

/** Without a config the server runs the tools itself. */
export function createDefinition(params: EnvironmentCreateParams & EnvironmentResourcesParams): EnvironmentDefinition {
  const { name, description = null, config, metadata = {}, scope, resources } = params;
  checkScope(scope);
  return checkDefinition({
    name,
    description,
    config: toConfig(config ?? { type: 'cloud' }),
    metadata,
    ...toResources(resources),
  });
}

/** Absent fields do not change. Only a description can be cleared, so null leaves all other fields unchanged. */
export function updateDefinition(
  record: EnvironmentRecord,
  params: EnvironmentUpdateParams & EnvironmentResourcesParams,
): EnvironmentDefinition {
  const before = definitionOf(record);
  const { name, description, config, metadata = {}, scope, resources } = params;
  checkScope(scope);
  return checkDefinition({
    name: name ?? before.name,
    description: description === undefined ? before.description : description,
    config: config ? toConfig(config, before.config) : before.config,
    metadata: mergeMetadata(before.metadata, metadata),
    ...toResources(resources === undefined ? before.resources : resources),
  });
}

/** An environment as the wire shows it. */
export function toEnvironment(record: EnvironmentRecord): EnvironmentWithResources {
  const { name, description, config, metadata, resources } = definitionOf(record);
  return {
    type: 'environment',
    id: record.id,
    name,
    description,
    config,
    metadata,
    scope: 'organization',
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
    archived_at: record.archivedAt === null ? null : toTime(record.archivedAt),
    ...toResources(resources),
  };
}

function toResources(
  resources: readonly EnvironmentResource[] | null | undefined,
): Pick<EnvironmentDefinition, 'resources'> {
  return resources == null || resources.length === 0 ? {} : { resources };
}

function definitionOf({ data }: EnvironmentRecord): EnvironmentDefinition {
  // Only createEnvironments writes these records, so the form is known.
  return data as object as EnvironmentDefinition;
}

function checkScope(scope: EnvironmentScopeParams | null | undefined): void {
  if (scope === 'account') throw environmentError('scope_not_supported', 'an environment cannot belong to an account');
}

/** Other than with agents, the empty text removes a key too. */
function mergeMetadata(
  before: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const entries = Object.entries({ ...before, ...patch });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== ''));
}

function checkDefinition(definition: EnvironmentDefinition): EnvironmentDefinition {
  if (definition.name === '') throw environmentError('invalid_name', 'an environment cannot be without a name');
  if (definition.resources !== undefined && definition.config.type === 'self_hosted') {
    throw environmentError('resources_not_supported', 'a self-hosted environment cannot have resources');
  }
  const pairs = Object.keys(definition.metadata).length;
  if (pairs > baseLimits.metadataPairsMax) {
    const problem = `the metadata has ${pairs} keys, and ${baseLimits.metadataPairsMax} are allowed`;
    throw environmentError('invalid_metadata', problem);
  }
  const { definitionBytesMax: bytesMax } = baseLimits;
  const bytes = findExcessBytes(definition, bytesMax);
  if (bytes === undefined) return definition;
  const problem = `the definition has at least ${bytes} bytes as JSON, and ${bytesMax} are allowed`;
  throw environmentError('definition_too_large', problem);
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
