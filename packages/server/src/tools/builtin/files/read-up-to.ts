import type { FileHandle } from 'node:fs/promises';

/** Reads the beginning of a file. Does not rely on its size, because the file may have grown since. */
export async function readUpTo(handle: FileHandle, bytesMax: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(bytesMax);
  let filled = 0;
  while (filled < bytesMax) {
    const { bytesRead } = await handle.read(buffer, filled, bytesMax - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
