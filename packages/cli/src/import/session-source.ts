import { UsageError } from '../base/usage-error.ts';
import { RolloutTranslator } from './codex/rollout-translator.ts';
import { Rollouts } from './codex/rollouts.ts';
import { findAllSessions, findSessions, type FindSessionsOptions } from './find-sessions.ts';
import type { SessionFile } from './session-files.ts';
import { claudeCodeFormat, type SessionFormat } from './session-format.ts';
import { toObject } from './transcript-record.ts';

/** The sessions of a program on this machine. */
export interface SessionSource {
  readonly format: SessionFormat;
  /** The sessions named by files, ids or directories, newest first. */
  readonly find: (named: readonly string[]) => Promise<SessionFile[]>;
  readonly findAll: () => Promise<SessionFile[]>;
}

/** Opens the sessions of the program that `--from` names. */
export async function openSessionSource(program: string, where: FindSessionsOptions): Promise<SessionSource> {
  if (program === 'claude-code') {
    return {
      format: claudeCodeFormat,
      find: (named) => findSessions(named, where),
      findAll: () => findAllSessions(where),
    };
  }
  if (program === 'codex') return toCodexSource(await Rollouts.open(where));
  throw new UsageError(`Sessions of "${program}" cannot be imported.`, 'Pass --from claude-code or --from codex.');
}

function toCodexSource(rollouts: Rollouts): SessionSource {
  return {
    format: {
      program: 'codex',
      listFiles: async (session) => rollouts.listFiles(session),
      createTranslator: () => new RolloutTranslator(),
      readFacts: ({ type, fields }) => {
        const meta = toObject(type === 'session_meta' ? fields['payload'] : undefined);
        return { directory: meta['cwd'], version: meta['cli_version'] };
      },
    },
    find: (named) => rollouts.find(named),
    findAll: () => rollouts.findAll(),
  };
}
