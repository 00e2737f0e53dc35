import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryHome } from './claude-code.ts';

/** Directories and variables of a Codex program that talks only to the model of a test. */
export interface CodexSetup {
  /** An empty working directory. */
  readonly folder: string;
  /** `CODEX_HOME`, with its sessions. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Sets up Codex for a model that answers at `url`, in directories that are gone after the test. */
export async function setUpCodex(url: string, model: string): Promise<CodexSetup> {
  const root = await temporaryHome();
  const [home, folder, temporary] = ['codex', 'work', 'tmp'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, folder, temporary]) await mkdir(path);
  await writeFile(join(home, 'config.toml'), toConfig(url, model));
  // Codex refuses to run commands when its home lies in the directory for temporary files.
  const env = { PATH: process.env['PATH'] ?? '', HOME: root, CODEX_HOME: home, TMPDIR: temporary, SCRIPTED_KEY: 'any' };
  return { home, folder, env };
}

function toConfig(url: string, model: string): string {
  return `
model = ${JSON.stringify(model)}
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = ${JSON.stringify(`${url}/v1`)}
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 2
stream_max_retries = 2

[analytics]
enabled = false

[features]
plugins = false
apps = false
remote_plugin = false
`;
}
