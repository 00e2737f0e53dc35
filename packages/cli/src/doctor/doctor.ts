import { cleanLine } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import { findProblems } from './find-problems.ts';
import type { Finding } from './finding.ts';
import type { Io } from '../base/io.ts';
import { detectLook, type Look } from '../terminal/look.ts';
import { writeText } from '../base/write-text.ts';
import type { ProgramOptions } from '../server/programs.ts';

/** Options of `doctor`. */
export interface DoctorOptions
  extends Pick<
    ProgramOptions,
    'programs' | 'programEnv' | 'unsandboxedPrograms' | 'claude' | 'codex' | 'opencode' | 'acp' | 'acpLogin'
  > {
  data?: string;
  url?: string;
  key?: string;
  json?: boolean;
}

/** Finds data that other commands have left in a data directory. */
export type FindMore = (io: Io, data: string | undefined) => Promise<readonly Finding[]>;

/** `fleetloom doctor`: checks the setup of this machine and prints fixes. Exits with 1 if there is a problem. */
export async function doctor(io: Io, options: DoctorOptions, findMore: FindMore): Promise<number> {
  const findings = (await Promise.all([findProblems(io, options), findMore(io, options.data)])).flat();
  const look = detectLook(io);
  const lines = findings.map((finding) => (options.json === true ? JSON.stringify(finding) : toText(finding, look)));
  await writeText(io.stdout, `${lines.join('\n')}\n`);
  return findings.some(({ state }) => state === 'problem') ? exitCode.failed : exitCode.ok;
}

function toText({ name, state, text, fix }: Finding, { glyphs, paint }: Look): string {
  const mark = {
    ok: paint(glyphs.done, 'ok'),
    note: paint(glyphs.dot, 'dim'),
    problem: paint(glyphs.failed, 'failed'),
  }[state];
  const first = `${mark} ${name.padEnd(12)} ${cleanLine(text)}`;
  return fix === undefined ? first : `${first}\n  ${' '.repeat(12)} ${paint(cleanLine(fix), 'dim')}`;
}
