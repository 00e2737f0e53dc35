import type { WorkspaceStep } from '../../model/workspace-log.ts';
import type { Block } from './blocks.ts';

/** A line of the transcript that reports changed files of the workspace. */
export interface ChangedLine {
  readonly type: 'changed';
  readonly id: string;
  readonly step: WorkspaceStep;
}

/** The blocks of a thread with its workspace changes: each after the tool call that made it, otherwise by time. */
export function addChanges(
  blocks: readonly Block[],
  steps: readonly WorkspaceStep[],
): readonly (Block | ChangedLine)[] {
  if (steps.length === 0) return blocks;
  const ids = new Set(blocks.map(({ id }) => id));
  const [byCall, byTime] = [new Map<string, ChangedLine[]>(), [] as ChangedLine[]];
  for (const step of steps) {
    const line: ChangedLine = { type: 'changed', id: `changed ${step.cursor}`, step };
    const { toolUseId } = step;
    if (toolUseId === null || !ids.has(toolUseId)) byTime.push(line);
    else byCall.set(toolUseId, [...(byCall.get(toolUseId) ?? []), line]);
  }
  const items: (Block | ChangedLine)[] = [];
  let next = 0;
  for (const block of blocks) {
    while (next < byTime.length && byTime[next]!.step.at < block.at) items.push(byTime[next++]!);
    items.push(block, ...(byCall.get(block.id) ?? []));
  }
  return [...items, ...byTime.slice(next)];
}
