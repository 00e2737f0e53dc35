import { openInside } from './open-inside.ts';
import { number, record, text } from '../../lines/values.ts';

/** The metadata of a sub-agent, which the program writes beside its transcript. */
export interface AgentMeta {
  readonly callId: string;
  readonly agentType: string | null;
  readonly description: string | null;
  /** The depth of the agent: 1 for an agent that the main agent started. */
  readonly depth: number;
}

/** Reads `agent-<id>.meta.json` beside a transcript. Undefined without a file that has the id of the call that started the agent. */
export async function readAgentMeta(root: string, transcript: string): Promise<AgentMeta | undefined> {
  const file = await openInside(root, transcript.replace(/\.jsonl$/, '.meta.json'));
  if (file === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(META_BYTES_MAX), 0, META_BYTES_MAX, 0);
    const meta = record(JSON.parse(buffer.toString('utf8', 0, bytesRead)));
    const callId = text(meta?.['toolUseId']);
    if (callId === undefined) return undefined;
    const agentType = text(meta?.['agentType']) ?? null;
    const description = text(meta?.['description']) ?? null;
    return { callId, agentType, description, depth: number(meta?.['spawnDepth']) ?? 1 };
  } catch {
    // The file is incomplete or not JSON: the program was killed while writing it.
    return undefined;
  } finally {
    await file.close();
  }
}

/** Bytes read of the file. The program writes some hundred bytes. */
const META_BYTES_MAX = 64 * 1024;
