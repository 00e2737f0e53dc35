import { fix, tasksFor } from './tasks.ts';

/**
 * The script of the lead for a demo with this many agents. Only this script is generated: the others are files, because
 * they do not depend on the number of agents.
 */
export function toLeadScript(agents: number): object {
  const tasks = tasksFor(agents);
  return {
    turns: [
      [
        { think: 'A release. I look at the project and at my team before I plan anything.', every_ms: 35 },
        { say: 'Let me look at the project and at my team.', every_ms: 50 },
        { call: 'read', input: { file_path: 'README.md' } },
        { call: 'list_agents', input: {} },
      ],
      [
        { sleep_ms: 500 },
        { think: 'These parts do not depend on each other, so they can all be worked on at once.', every_ms: 35 },
        {
          say: `I split this into ${tasks.length + 1} parts. The fix has to be approved by you, so I do not wait for it.`,
          every_ms: 50,
        },
        { call: 'send_to_agent', input: { ...fix } },
        ...inGroups(tasks, TASKS_OF_ONE_CALL).map((group) => ({ call: 'delegate', input: { tasks: group } })),
      ],
      [
        { sleep_ms: 600 },
        {
          think: 'The reports agree, but for one thing: how long the first retry waits. I ask the reviewer again.',
          every_ms: 35,
        },
        { say: 'One thing is left open. I go back to a reviewer who knows the project by now.', every_ms: 50 },
        {
          call: 'send_to_agent',
          input: {
            agent: 'reviewer',
            message: 'Look at the retries once more: which report is right about the first wait?',
            // Sent to the thread of a reviewer that has reported, because that thread still has the project in its context.
            thread_id: '{{find:reviewer \\(thread (\\w+)\\)}}',
          },
        },
      ],
      [
        {
          say: `All ${tasks.length} reports are in. ferry can be released once the first retry waits as long as the documentation says: the fixer has an edit for it that waits for you.`,
          every_ms: 50,
        },
      ],
      // A later report wakes the lead again: the last entry is repeated each time.
      [
        {
          say: '{{find:^((?:Fixed|Understood|I looked again).+)}}\n\nEverything else that was found is in the reports above, with the agent that found it.',
          every_ms: 40,
        },
      ],
    ],
  };
}

/** The limit of the server for one tool call. */
const TASKS_OF_ONE_CALL = 16;

function inGroups<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
