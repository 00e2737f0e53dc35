import { cleanLine } from '@fleetloom/protocol/text';
import { readAgents } from './read-agents.ts';
import { saveAllAgents } from './save-agents.ts';
import { DEFAULT_MODEL, toModelName } from './to-model-name.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';

/** Flags of `fleetloom agents apply`; `model` overrides the models of all files. */
export interface ApplyAgentsOptions extends ConnectionOptions {
  model?: string;
  json?: boolean;
}

/** `fleetloom agents apply`: creates or updates agents from the definitions of a directory. Applying unchanged files changes nothing. */
export async function applyAgents(io: Io, directory: string, options: ApplyAgentsOptions): Promise<number> {
  const agents = await readAgents(directory);
  const api = createServerApi(toConnection(io.env, options));
  const saved = await saveAllAgents(api, agents, toModelName(options.model ?? DEFAULT_MODEL));
  for (const { file, notes } of agents) {
    for (const note of notes) await writeText(io.stderr, `${cleanLine(file)}: ${cleanLine(note)}\n`);
  }
  const lines = saved.map(({ agent: { name, file }, id, version }) =>
    options.json === true
      ? toJsonText(io.stdout, { id, version, name, file })
      : `${id}  ${cleanLine(name)}, version ${version}`,
  );
  await writeText(io.stdout, `${lines.join('\n')}\n`);
  return exitCode.ok;
}
