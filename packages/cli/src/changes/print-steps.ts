import type { WorkspaceStep, WorkspaceSteps } from '@fleetloom/protocol/fleet';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import { printTable } from '../terminal/print-table.ts';
import type { OpenedChanges } from './open-changes.ts';
import { quotePath } from '../workspace/quote-path.ts';

/** Which steps to print, and how. */
export interface StepsOptions {
  readonly thread?: string;
  readonly json?: boolean;
}

/** Prints the recorded steps of a session with the cursors that `show --at`, `restore --at` and `diff --from` accept. */
export async function printSteps(io: Io, { api, path }: OpenedChanges, options: StepsOptions): Promise<number> {
  const { thread, json } = options;
  const steps: WorkspaceStep[] = [];
  for (let after: string | undefined; ; ) {
    const page = await api.get<WorkspaceSteps>(`${path}/changes/steps`, { thread, after });
    steps.push(...page.steps);
    if (page.next_after === null) break;
    after = page.next_after;
  }
  if (json === true) {
    for (const step of steps) await writeText(io.stdout, `${toJsonText(io.stdout, step)}\n`);
    return exitCode.ok;
  }
  if (steps.length === 0) await writeText(io.stderr, 'Nothing is recorded yet.\n');
  else await printTable(io, ['CURSOR', 'TIME', 'THREAD', 'STEP', 'LINES', 'FILES'], steps.map(toCells));
  return exitCode.ok;
}

function toCells(step: WorkspaceStep): string[] {
  const {
    cursor,
    time,
    agent_name: agent,
    session_thread_id: thread,
    lines_added: added,
    lines_removed: removed,
  } = step;
  const lines = step.type === 'changed' ? `+${added} -${removed}` : '';
  return [cursor, time.slice(11, 19), agent ?? thread ?? '', describeStep(step), lines, listFiles(step)];
}

function describeStep({ type, cause, calls, by }: WorkspaceStep): string {
  if (type === 'opened') return 'start';
  if (type !== 'changed') return `${type} by ${by ?? ''}`;
  if (cause === 'recovered') return 'found after a crash';
  // With several calls, it is not certain which call made the change.
  if (calls.length > 0) return [...new Set(calls.map(({ tool }) => tool ?? 'a tool call'))].join(' or ');
  return causes[cause ?? ''] ?? cause ?? '';
}

const causes: Readonly<Record<string, string>> = {
  turn: 'end of a turn',
  outside: 'outside of tool calls',
  setup: 'setup command',
  restore: 'restore',
  merge: 'merge of a thread',
  tool: 'a tool call',
};

function listFiles({ files, files_count: count }: WorkspaceStep): string {
  const names = files.slice(0, SHOWN).map(({ path }) => quotePath(path));
  // The step of an apply contains only the number of files.
  if (names.length === 0) return count === 0 ? '' : `${count} ${count === 1 ? 'file' : 'files'}`;
  return `${names.join(', ')}${count > names.length ? ` and ${count - names.length} more` : ''}`;
}

/** Files that one row names. */
const SHOWN = 3;
