import { findBuiltInTool } from '@fleetloom/protocol/managed-agents';
import { viewLimits } from '../limits.ts';
import type { FleetRun } from './fleet-run.ts';
import type { StreamCall } from './fleet-stream.ts';
import type { EventBody } from './event-body.ts';

/** The event of a file that an agent wrote, until the run has emitted its limit of file content. */
export function toFileEvents(run: FleetRun, call: StreamCall, edited: WrittenFile | undefined): EventBody[] {
  const file = edited ?? toWritten(call);
  if (file === undefined) return [];
  const size = Buffer.byteLength(file.content);
  run.filesBytes += size;
  if (run.filesBytes > viewLimits.runFilesBytesMax) return [];
  return [{ type: 'file', path: file.path, size, encoding: 'utf-8', content: file.content }];
}

interface WrittenFile {
  readonly path: string;
  readonly content: string;
}

/** The `write` tool of the server, and `Write` of the claude program: the input has the path and the whole content. */
function toWritten({ name, input }: StreamCall): WrittenFile | undefined {
  if (!(findBuiltInTool(name)?.writesFiles === true || name === 'Write') || typeof input !== 'object' || input === null)
    return undefined;
  const { file_path: path, content } = input as { readonly file_path?: unknown; readonly content?: unknown };
  return typeof path === 'string' && typeof content === 'string' ? { path, content } : undefined;
}
