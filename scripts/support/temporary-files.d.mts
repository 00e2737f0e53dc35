/** See temporary-files.mjs. */
export interface TemporaryFiles {
  readonly path: string;
  remove(): void;
}

export function openTemporaryFiles(memory?: string): TemporaryFiles;
