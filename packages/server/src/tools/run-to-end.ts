import type { ChildProcess } from 'node:child_process';

export interface ProgramEnd {
  /** The exit code; null if the program was killed, for example because it took too long. */
  readonly code: number | null;
  /** The beginning of stderr. */
  readonly complaint: string;
}

/** Waits for the end of a short program that was started with pipes, or kills it after some time. */
export async function runToEnd(child: ChildProcess, timeoutMs: number): Promise<ProgramEnd> {
  let complaint = '';
  child.stdout?.resume();
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString()}`.slice(0, COMPLAINT_CHARS);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  clearTimeout(timer);
  return { code, complaint: complaint.trim() };
}

const COMPLAINT_CHARS = 500;
