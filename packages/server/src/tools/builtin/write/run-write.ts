import type { HostContext } from '../host-context.ts';
import { throwIfInterrupted } from '../../tool-failure.ts';

/** The checked input of `write`. */
export interface WriteInput {
  readonly file_path: string;
  readonly content: string;
}

/** Replaces a file as a whole. */
export async function runWrite(input: WriteInput, { files, workspace, signal }: HostContext): Promise<string> {
  const { file_path: path, content } = input;
  throwIfInterrupted(signal);
  await files.write(workspace, path, content);
  return `Wrote ${Buffer.byteLength(content)} bytes to ${path}`;
}
