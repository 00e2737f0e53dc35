import type { HostContext } from '../host/program/host-context.ts';
import type { WriteInput } from '../host/contract/inputs.ts';
import { throwIfInterrupted } from '../tool-failure.ts';

/** Replaces a file as a whole. */
export async function runWrite(input: WriteInput, { files, workspace, signal }: HostContext): Promise<string> {
  const { file_path: path, content } = input;
  throwIfInterrupted(signal);
  await files.write(workspace, path, content);
  return `Wrote ${Buffer.byteLength(content)} bytes to ${path}`;
}
