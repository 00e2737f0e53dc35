import { stat } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import type { Schedule } from '../base/schedule.ts';
import { type LoadedTls, loadTls, type TlsFiles } from '../http/server/tls.ts';
import { compositionLimits } from './limits.ts';
import { repeat } from './repeat.ts';

/** The files to watch, and the receiver of new certificates. */
export interface WatchTlsOptions {
  readonly files: TlsFiles;
  readonly onChange: (tls: LoadedTls) => void;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Watches certificate files that may be replaced while the server runs. */
export interface TlsWatch {
  /** Reads the files now. Throws, and keeps the certificates, if the files are not valid. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/** Reads the certificates at the start of a server. An expired certificate is reported: clients reject it. */
export async function openTls(
  files: TlsFiles | undefined,
  clock: Pick<Clock, 'now'>,
  onProblem: (problem: unknown) => void,
): Promise<LoadedTls | undefined> {
  if (files === undefined) return undefined;
  const tls = await loadTls(files);
  if (tls.endsAt <= clock.now()) onProblem(new Error(`the certificate ${files.cert} has expired`));
  return tls;
}

/** Reads the files again when one of them has changed. Invalid files are reported once, and the old certificates stay in use. */
export function watchTls({ files, onChange, schedule, onProblem }: WatchTlsOptions): TlsWatch {
  // The files are read again at first: they may have been replaced since the start of the server.
  let seen: string | undefined;
  let loading: Promise<void> = Promise.resolve();
  const load = async () => {
    seen = await toMark(files);
    onChange(await loadTls(files));
  };
  // One after the other: a slow reload must not replace newer certificates with older ones.
  const reload = () => (loading = loading.catch(() => {}).then(load));
  const look = async () => {
    const mark = await toMark(files);
    // A file that is being replaced is missing for a moment.
    if (mark === seen || mark.includes(MISSING)) return;
    await reload();
  };
  const watching = repeat({ run: look, everyMs: compositionLimits.tlsCheckMs, schedule, onProblem });
  return { reload, close: () => watching.close() };
}

const MISSING = 'missing';

/** A mark that changes with the content of the files, also if a link now leads to another file. */
async function toMark({ cert, key, clientCa }: TlsFiles): Promise<string> {
  const paths = [cert, key, ...(clientCa === undefined ? [] : [clientCa])];
  const marks = await Promise.all(
    paths.map(async (path) => {
      const stats = await stat(path).catch(() => undefined);
      return stats === undefined ? MISSING : `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeMs}`;
    }),
  );
  return marks.join(', ');
}
