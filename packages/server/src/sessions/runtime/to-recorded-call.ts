import { findBuiltInTool } from '@fleetloom/protocol/managed-agents';
import { isObject, type Json } from '../../base/json/json.ts';
import type { RecordedCall } from '../../workspaces/snapshots/call-intervals.ts';
import type { Call } from '../core/state/state.ts';

/** A tool call as the recorder sees it. Null: it cannot change files of the workspace. */
export function toRecordedCall(
  threadId: string,
  { id: toolUseId, name, kind, input, runsAt }: Call,
): RecordedCall | null {
  if (kind === 'session' || kind === 'custom' || runsAt !== 'server') return null;
  const path = findWritten(name, input);
  if (path !== undefined) return { threadId, toolUseId, paths: [path] };
  return isReader(name) ? null : { threadId, toolUseId, paths: null };
}

/** The only file that the call writes. */
function findWritten(name: string, input: Json): string | undefined {
  const field = WRITTEN[name];
  if (field === undefined || !isObject(input)) return undefined;
  const path = input[field];
  return typeof path === 'string' ? path : undefined;
}

/** Tools of the server, and tools of the claude program: the field of their input that names the file. */
const WRITTEN: { readonly [tool: string]: string | undefined } = {
  write: 'file_path',
  edit: 'file_path',
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};

/** Whether a tool cannot change files of the workspace. An unknown tool may write anything. */
function isReader(name: string): boolean {
  return READERS.has(name) || findBuiltInTool(name)?.runsIn === 'server';
}

const READERS = new Set(
  'read glob grep Read Glob Grep LS NotebookRead WebFetch WebSearch TodoWrite TodoRead ToolSearch'.split(' '),
);
