import type { LoadedSettings } from './events.ts';

/** What a program has loaded beside the agent's definition, in one line: `project settings: CLAUDE.md, 2 hooks, 1 skill`. */
export function describeSettings({ settings, instructions, hooks, agents, skills, rules }: LoadedSettings): string {
  const loaded = [
    ...instructions.map((path) => path.split('/').at(-1) ?? path),
    ...count(hooks, 'hook'),
    ...count(agents, 'agent'),
    ...count(skills, 'skill'),
    ...count(rules, 'permission rule'),
  ];
  return `${settings} settings: ${loaded.length === 0 ? 'nothing found' : loaded.join(', ')}`;
}

function count(items: readonly string[], name: string): string[] {
  return items.length === 0 ? [] : [`${items.length} ${name}${items.length === 1 ? '' : 's'}`];
}
