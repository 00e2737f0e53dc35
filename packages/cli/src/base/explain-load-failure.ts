/**
 * Node opens hundreds of files at a time while it loads a command. If the limit of open files is too low, it prints a stack
 * that names one of them. Returns a message for that failure, and undefined for every other error.
 *
 * @example
 * const message = explainLoadFailure(error);
 * if (message === undefined) throw error;
 */
export function explainLoadFailure(error: unknown, openFilesMax = readOpenFilesMax()): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENFILE')
    return `fleetloom: cannot start: the system has no file descriptors left (ENFILE).\n${RAISE_SYSTEM}`;
  if (code !== 'EMFILE') return undefined;
  return `fleetloom: cannot start: this process may open ${openFilesMax} files, and loading takes about ${FILES_WHILE_LOADING}.\n${RAISE}`;
}

/** Files that `serve` and `start`, the largest commands, have open at a time, rounded up. */
const FILES_WHILE_LOADING = 500;

const RAISE = '  Raise the limit and start again, for example with `ulimit -n 4096`.\n';
const RAISE_SYSTEM = '  Close other programs, or raise the limit with `sysctl fs.file-max`.\n';

/** Read from the process report: no file can be opened at this moment. */
function readOpenFilesMax(): string {
  // The types know the report as an object without fields.
  const { userLimits } = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
  };
  return String(userLimits?.open_files?.soft ?? 'too few');
}
