import type { TouchedFile, WorkspaceChanges, WorkspaceDiff, WorkspaceDiffs } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import type { Paint } from '../terminal/palette.ts';
import { describeCounts, drawStat } from '../workspace/draw-stat.ts';
import { chooseSession } from './choose-session.ts';
import { listAllChanges } from './list-all-changes.ts';
import { type ChangesOptions, type OpenedChanges, withChanges } from './open-changes.ts';
import { printSteps } from './print-steps.ts';
import { toSessionPaths } from './session-paths.ts';
import { quotePath } from '../workspace/quote-path.ts';

/** Options of `diff`. */
export interface DiffOptions extends ChangesOptions {
  stat?: boolean;
  /** Lists the recorded steps instead of the diff. */
  steps?: boolean;
  thread?: string;
  from?: string;
  to?: string;
}

/** `fleetloom diff`: prints the changes of agents in the workspace of a session. */
export async function diff(io: Io, args: readonly string[], options: DiffOptions): Promise<number> {
  const { session, rest } = await chooseSession(io, args, options);
  return await withChanges(io, session, options, async (opened) => {
    const { stat, thread, from, to, json } = options;
    if (options.steps === true) return await printSteps(io, opened, options);
    const paths = await toSessionPaths(io, opened, rest);
    const all = await listAllChanges(opened, { thread, from, to });
    const files = choose(all.files, paths);
    const changes = paths.length === 0 ? all : { ...all, files, ...countFiles(files) };
    // The same range for all requests, even if files change in the meantime.
    const range = { thread, from: all.from?.cursor ?? from, to: all.to?.cursor ?? to };
    const diffs = stat === true ? undefined : await readDiffs(opened, files, range);
    if (json === true) {
      const text = toJsonText(io.stdout, diffs === undefined ? changes : { ...changes, diffs });
      await writeText(io.stdout, `${text}\n`);
      return exitCode.ok;
    }
    const { paint } = detectLook(io);
    const width = drawingWidth(io);
    const lines =
      diffs === undefined
        ? drawStat(changes, { paint, width, filesMax: Number.POSITIVE_INFINITY })
        : diffs.flatMap((each) => toLines(io, each, paint));
    await printPaged(io, lines.map((line) => `${line}\n`).join(''));
    if (diffs !== undefined && files.length === 0) await writeText(io.stderr, `${describeCounts(changes)}\n`);
    await printNotes(io, changes);
    return exitCode.ok;
  });
}

/** The changed files at the wanted paths and in the wanted directories. */
function choose(files: readonly TouchedFile[], wanted: readonly string[]): readonly TouchedFile[] {
  const isIn = (path: string, directory: string) =>
    directory === '.' || path === directory || path.startsWith(`${directory}/`);
  const missing = wanted.find((directory) => !files.some(({ path }) => isIn(path, directory)));
  if (missing !== undefined) {
    const fix = '"fleetloom diff <session> --stat" lists what has.';
    throw new CommandError(exitCode.notFound, `Nothing has changed in ${cleanLine(missing)}.`, fix);
  }
  return wanted.length === 0 ? files : files.filter(({ path }) => wanted.some((directory) => isIn(path, directory)));
}

function countFiles(files: readonly TouchedFile[]) {
  const sum = (count: (file: TouchedFile) => number | null) =>
    files.reduce((total, file) => total + (count(file) ?? 0), 0);
  return {
    files_count: files.length,
    lines_added: sum(({ added }) => added),
    lines_removed: sum(({ removed }) => removed),
  };
}

async function readDiffs(
  { api, path }: OpenedChanges,
  files: readonly TouchedFile[],
  range: Readonly<Record<'thread' | 'from' | 'to', string | undefined>>,
): Promise<WorkspaceDiff[]> {
  const diffs: WorkspaceDiff[] = [];
  if (files.length < PAGED_FROM) {
    for (const file of files) {
      diffs.push(await api.get<WorkspaceDiff>(`${path}/changes/diff`, { path: file.path, ...range }));
    }
    return diffs;
  }
  const wanted = new Set(files.map((file) => file.path));
  for (let after: string | undefined; diffs.length < files.length; ) {
    const page = await api.get<WorkspaceDiffs>(`${path}/changes/diffs`, { ...range, after });
    diffs.push(...page.diffs.filter((diff) => wanted.has(diff.path)));
    if (page.next_after === null) break;
    after = page.next_after;
  }
  return diffs;
}

/** From this number of files on, pages with the diffs of all files are faster than one request for each file. */
const PAGED_FROM = 4;

/** A diff as git prints it, so that `git apply` can read it; on a terminal in colours and without control characters. */
function toLines(io: Io, diff: WorkspaceDiff, paint: Paint): readonly string[] {
  const lines = diff.diff === null ? toOmittedLines(diff) : diff.diff.split('\n').slice(0, -1);
  return io.stdout.isTTY === true ? lines.map((line) => paintLine(line, paint)) : lines;
}

/** A diff without content in the format of git, so that `git apply` rejects it instead of skipping the file. */
function toOmittedLines({ path, omitted, before, after }: WorkspaceDiff): readonly string[] {
  const name = cleanLine(path);
  const [old, next] = [before === null ? '/dev/null' : `a/${name}`, after === null ? '/dev/null' : `b/${name}`];
  const header = `diff --git a/${name} b/${name}`;
  if (omitted !== 'binary') return [header, `--- ${old}`, `+++ ${next}`, 'The diff is too large to show.'];
  const modes = [
    ...(before === null ? [`new file mode ${after?.mode}`] : []),
    ...(after === null ? [`deleted file mode ${before?.mode}`] : []),
  ];
  const kind = modes.length > 0 ? modes : [`index 0000000..0000001 ${after?.mode}`];
  return [header, ...kind, `Binary files ${old} and ${next} differ`];
}

function paintLine(line: string, paint: Paint): string {
  const clean = cleanLine(line.replaceAll('\t', '    '));
  const shown = line.startsWith(' ') && !clean.startsWith(' ') ? ` ${clean}` : clean;
  if (/^(diff |index |---|\+\+\+|new |old |deleted )/.test(line)) return paint(shown, 'bold');
  if (line.startsWith('@@')) return paint(shown, 'writing');
  if (line.startsWith('+')) return paint(shown, 'ok');
  return line.startsWith('-') ? paint(shown, 'failed') : shown;
}

async function printPaged(io: Io, text: string): Promise<void> {
  const pager = io.env['FLEETLOOM_PAGER'] ?? io.env['PAGER'] ?? 'less';
  const isLong = text.split('\n').length > (io.stdout.rows ?? Number.POSITIVE_INFINITY);
  const isPaged = io.stdout.isTTY === true && isLong && pager !== '' && pager !== 'cat';
  if (isPaged && (await io.openPager?.(pager, text)) === true) return;
  await writeText(io.stdout, text);
}

async function printNotes(
  io: Io,
  { state, not_recorded: lost, not_recorded_count: count }: WorkspaceChanges,
): Promise<void> {
  if (state === 'not_opened') await writeText(io.stderr, 'No agent has worked in this session yet.\n');
  if (state === 'discarded') await writeText(io.stderr, 'The workspace was discarded: this is what it had.\n');
  if (count === 0) return;
  const names = lost.slice(0, 3).map(({ path, reason }) => `${quotePath(path)} (${cleanLine(reason)})`);
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  await writeText(io.stderr, `Not recorded: ${names.join(', ')}${more}.\n`);
}
