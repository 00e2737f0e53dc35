import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentCreateParams } from '@fleetloom/protocol/managed-agents';
import { readAgents } from '../agents/read-agents.ts';
import { toParams } from '../agents/save-agents.ts';
import { demoDirectory, leadScriptName, listProject } from './demo-files.ts';
import { toLeadScript } from './lead-script.ts';

/** The whole demo as one value, so that the dashboard can start it through the API. */
export interface DemoDescription {
  readonly title: string;
  readonly task: string;
  readonly environment: string;
  /** The coordinator, which receives the task. The members are its roster. */
  readonly lead: AgentCreateParams;
  readonly members: readonly AgentCreateParams[];
  /** Contents of the project files by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Describes the demo with the scripts inside the prompts, because a server that did not start the demo has no script files. */
export async function describeDemo(agents: number): Promise<DemoDescription> {
  const described = await Promise.all(
    (await readAgents(join(demoDirectory, 'agents'))).map(async (agent) => {
      const script = agent.name === 'lead' ? toLeadScript(agents) : await readScript(agent.name);
      const model = `scripted/${scriptNameOf(agent.name, agents)}`;
      const text = JSON.stringify(script).replaceAll('<', '\\u003c');
      return toParams({ ...agent, model, system: `${agent.system}\n\n<script>${text}</script>` }, [], model);
    }),
  );
  const lead = described.find(({ name }) => name === 'lead');
  if (lead === undefined) throw new Error('the demo has no lead');
  const members = described.filter((agent) => agent !== lead);
  const paths = await listProject();
  const texts = await Promise.all(paths.map((path) => readFile(join(demoDirectory, 'project', path), 'utf8')));
  const files = Object.fromEntries(paths.map((path, index) => [path, texts[index] ?? '']));
  return { title: demoTitle(agents), task: demoTask, environment: demoEnvironment, lead, members, files };
}

/** The name of an agent's script. */
export function scriptNameOf(agent: string, agents: number): string {
  return agent === 'lead' ? leadScriptName(agents) : `demo-${agent}`;
}

/** The title of the demo session. */
export function demoTitle(agents: number): string {
  return `Demo: ${agents} agents prepare a release of ferry`;
}

/** The task of the lead. */
export const demoTask =
  'Get ferry ready for its next release. Look at the whole project with your team: review the code, compare it with the documentation, fix the retries, and write down what a user should know. Then report whether it can be released.';

/** The name of the environment of the demo. */
export const demoEnvironment = 'demo';

async function readScript(agent: string): Promise<unknown> {
  const { parse } = await import('yaml');
  return parse(await readFile(join(demoDirectory, 'scripts', `demo-${agent}.yaml`), 'utf8')) as unknown;
}
