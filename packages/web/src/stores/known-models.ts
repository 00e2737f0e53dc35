import type { FleetProgram } from '@fleetloom/protocol/fleet';
import type { ModelInfo } from '@fleetloom/protocol/managed-agents';
import { api } from './connection/api.ts';

/** The models that agents of this server can have. */
export interface KnownModels {
  /** Models of the endpoint, scripted models, and models of programs that were found, sorted by id. */
  readonly models: readonly { readonly id: string; readonly label: string }[];
  readonly programs: readonly FleetProgram[];
}

/** Reads the models of the server and the programs of its machine. */
export async function readModels(): Promise<KnownModels> {
  const [{ data: models }, { data: programs }] = await Promise.all([
    api.get<{ data: readonly ModelInfo[] }>('v1/models?limit=1000'),
    api.get<{ data: readonly FleetProgram[] }>('v1/programs'),
  ]);
  const ofPrograms = programs
    .filter(({ problem }) => problem === null)
    .flatMap((program) => program.models.map((id) => ({ id, label: `${program.id} ${program.version ?? ''}`.trim() })));
  const all = [...models.map(({ id, display_name: label }) => ({ id, label })), ...ofPrograms];
  return { models: all.toSorted((a, b) => a.id.localeCompare(b.id)), programs };
}
