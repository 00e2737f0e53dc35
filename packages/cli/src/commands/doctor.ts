import { exitCode } from '../exit-code.ts';
import { findProblems } from '../doctor/find-problems.ts';
import type { Finding } from '../doctor/finding.ts';
import type { Io } from '../io.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { detectLook, type Look } from '../terminal/look.ts';
import { writeText } from '../write-text.ts';
import type { ProgramOptions } from './programs.ts';

export interface DoctorOptions
  extends Pick<ProgramOptions, 'programs' | 'programEnv' | 'unsandboxedPrograms' | 'claude'> {
  data?: string;
  url?: string;
  key?: string;
  json?: boolean;
}

/** `fleetloom doctor`: what is set up on this machine, what is not, and what to do. 1 if something does not work. */
export async function doctor(io: Io, options: DoctorOptions): Promise<number> {
  const findings = await findProblems(io, options);
  const look = detectLook(io);
  const lines = findings.map((finding) => (options.json === true ? JSON.stringify(finding) : toText(finding, look)));
  await writeText(io.stdout, `${lines.join('\n')}\n`);
  return findings.some(({ state }) => state === 'problem') ? exitCode.failed : exitCode.ok;
}

function toText({ name, state, text, fix }: Finding, { glyphs, paint }: Look): string {
  const sign = {
    ok: paint(glyphs.done, 'ok'),
    note: paint(glyphs.dot, 'dim'),
    problem: paint(glyphs.failed, 'failed'),
  }[state];
  const first = `${sign} ${name.padEnd(12)} ${cleanLine(text)}`;
  return fix === undefined ? first : `${first}\n  ${' '.repeat(12)} ${paint(cleanLine(fix), 'dim')}`;
}
