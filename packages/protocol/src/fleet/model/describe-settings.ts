import type { LoadedSettings } from '../wire/events.ts';

/** The settings that a program has loaded in addition to the agent's definition, in one line: `project settings: CLAUDE.md, 2 hooks, 1 skill`. */
export function describeSettings({ settings, instructions, hooks, agents, skills, rules }: LoadedSettings): string {
  const files = instructions.map((path) => path.slice(path.lastIndexOf('/') + 1));
  const counts = Object.entries({ hook: hooks, agent: agents, skill: skills, rule: rules }).flatMap(
    ([name, { length }]) => (length === 0 ? [] : [`${length} ${name}${length === 1 ? '' : 's'}`]),
  );
  return `${settings} settings: ${[...files, ...counts].join(', ') || 'nothing found'}`;
}
