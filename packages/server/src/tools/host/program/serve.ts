import type { Readable, Writable } from 'node:stream';
import { inBackground } from '../../../base/in-background.ts';
import { toolLimits } from '../../limits.ts';
import { Shells } from '../../builtin/bash/shells.ts';
import { saveOutput } from '../../builtin/files/save-output.ts';
import { WorkspaceFiles } from '../../builtin/files/workspace-files.ts';
import { createLocks } from '../../locks.ts';
import { ToolFailure } from '../../tool-failure.ts';
import { toToolLimits } from '../../tool-limits.ts';
import type { HostAnswer, HostCall, HostRequest } from '../contract/messages.ts';
import { encodeMessage, MessageReader, MessageTooLarge } from '../contract/wire.ts';
import type { HostContext } from '../../builtin/host-context.ts';
import { runTool } from './run-tool.ts';

/** Answers the requests of the server until it closes its end. */
export async function serve(input: Readable, output: Writable): Promise<void> {
  const reader = new MessageReader(toolLimits.toolHostRequestBytesMax);
  const shells = new Shells();
  /** The controllers that abort the calls in progress. */
  const calls = new Map<number, AbortController>();
  let session: Session | undefined;

  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      for (const message of reader.push(chunk)) take(JSON.parse(message.toString()) as HostRequest);
    }
  } finally {
    await shells.close();
  }

  function take(request: HostRequest): void {
    if (request.type === 'open') session = openSession(request, shells);
    if (request.type === 'cancel') calls.get(request.id)?.abort();
    // A failure here is a defect: the process ends, which is an error result of all calls.
    else inBackground(answer(request), crash);
  }

  async function answer(request: HostRequest): Promise<void> {
    const { id } = request;
    const stop = new AbortController();
    calls.set(id, stop);
    const result = await execute(request, session, stop.signal);
    calls.delete(id);
    const { toolHostAnswerBytesMax: bytesMax } = session?.limits ?? toolLimits;
    output.write(encodeAnswer({ id, ...result, shells: shells.count }, bytesMax));
  }
}

/** The context that all tools of the session share. */
type Session = Omit<HostContext, 'threadId' | 'signal'>;
type Result = Pick<HostAnswer, 'text' | 'isError'>;

function openSession(request: HostCall & { type: 'open' }, shells: Shells): Session {
  const { workspace, programs, environment, limits: changed } = request;
  const limits = toToolLimits(changed);
  const files = new WorkspaceFiles({ locks: createLocks(), linksMax: limits.fileLinksMax });
  return { workspace, programs, environment, limits, files, shells };
}

async function execute(request: HostCall, session: Session | undefined, signal: AbortSignal): Promise<Result> {
  if (session === undefined) throw new Error('the first request must be open');
  const { files, workspace, shells } = session;
  switch (request.type) {
    case 'run': {
      const { tool, input, threadId } = request;
      return await runTextTool(tool, input, { ...session, threadId, signal });
    }
    case 'keep':
      return await keep(files, workspace, request);
    case 'close_thread':
      await shells.closeThread(request.threadId);
      return { text: '', isError: false };
    case 'open':
    case 'cancel':
      return { text: '', isError: false };
  }
}

async function runTextTool(...call: Parameters<typeof runTool>): Promise<Result> {
  const { content, isError } = await runTool(...call);
  return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'), isError };
}

async function keep(
  files: WorkspaceFiles,
  workspace: string,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<Result> {
  try {
    return { text: await saveOutput(files, workspace, name, text), isError: false };
  } catch (error) {
    return { text: error instanceof ToolFailure ? error.message : String(error), isError: true };
  }
}

/** Encodes an answer. A result that is too large is replaced by an error, because the server would kill the host for it. */
function encodeAnswer(answer: HostAnswer, bytesMax: number): Buffer {
  try {
    return encodeMessage(answer, bytesMax);
  } catch (error) {
    if (!(error instanceof MessageTooLarge)) throw error;
    const text = `the result has ${error.bytes} bytes, and at most ${bytesMax} are given: ask for less`;
    return encodeMessage({ ...answer, text, isError: true }, bytesMax);
  }
}

function crash(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
