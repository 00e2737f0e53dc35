import type { Story } from './story.ts';

/**
 * The log has a thread for a workflow, of which the program writes no transcript: it received its script, says nothing, and
 * its agents are below it. A transcript has these agents below the agent that started the workflow.
 */
export function withoutWorkflows(log: Story, transcript: Story): Story {
  const workflows = new Map(
    [...log.threads].flatMap(([key, { parent, items }]) => {
      const isSilent =
        items.length === 1 && items[0]!.kind === 'input' && items[0]!.text.startsWith('export const meta');
      return isSilent && !transcript.threads.has(key) ? [[key, parent] as const] : [];
    }),
  );
  const threads = [...log.threads].filter(([key]) => !workflows.has(key));
  const toParent = (parent: string | null) => (parent === null ? null : (workflows.get(parent) ?? parent));
  return {
    ...log,
    threads: new Map(threads.map(([key, thread]) => [key, { ...thread, parent: toParent(thread.parent) }])),
  };
}
