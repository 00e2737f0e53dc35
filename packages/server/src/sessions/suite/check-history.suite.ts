import type { Message } from '../../base/content.ts';

/** Problems of a history that an endpoint would reject; empty if it is valid. */
export function findHistoryProblems(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  let open = new Set<string>();
  if (messages[0]?.role !== 'user') problems.push('the history does not begin with the user');
  for (const [at, { role, content }] of messages.entries()) {
    if (content.length === 0) problems.push(`message ${at} is empty`);
    if (role === 'assistant') {
      if (open.size > 0) problems.push(`before answer ${at} there is no result of ${[...open].join(', ')}`);
      open = new Set(content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])));
      continue;
    }
    const results = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    if (results.length === 0 && open.size > 0)
      problems.push(`message ${at} comes before the results of ${[...open].join(', ')}`);
    for (const id of results)
      if (!open.delete(id)) problems.push(`message ${at} has a result of ${id}, which waits for none`);
    if (results.length > 0 && open.size > 0)
      problems.push(`message ${at} lacks the results of ${[...open].join(', ')}`);
  }
  if (open.size > 0) problems.push(`there is no result of ${[...open].join(', ')} at the end`);
  return problems;
}
