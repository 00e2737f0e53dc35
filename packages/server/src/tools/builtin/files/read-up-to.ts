import type { FileHandle } from 'node:fs/promises';

/** The beginning of a file. It may have grown since its size was asked for, so the size is not relied on. */
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
