import { limits } from '../base/limits.ts';
import type { Timers } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';
import { RolloutTranslator } from './codex/rollout-translator.ts';
import { Rollouts } from './codex/rollouts.ts';
import { findAllSessions, findSessions, type FindSessionsOptions } from './find-sessions.ts';
import { MessageTranslator } from './opencode/message-translator.ts';
import { OpencodeSessions } from './opencode/opencode-sessions.ts';
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
export async function openSessionSource(
  program: string,
  where: FindSessionsOptions,
  timers: Pick<Timers, 'now'>,
): Promise<SessionSource> {
  if (program === 'claude-code') {
    return {
      format: claudeCodeFormat,
      find: (named) => findSessions(named, where),
      findAll: () => findAllSessions(where),
    };
  }
  if (program === 'codex') return toCodexSource(await Rollouts.open(where), timers);
  if (program === 'opencode') return toOpencodeSource(new OpencodeSessions(where, timers));
  throw new UsageError(
    `Sessions of "${program}" cannot be read.`,
    'Pass --from claude-code, --from codex or --from opencode.',
  );
}

function toCodexSource(rollouts: Rollouts, { now }: Pick<Timers, 'now'>): SessionSource {
  let refreshedAt = now();
  return {
    format: {
      program: 'codex',
      listFiles: async (session) => {
        // A session that is followed may start sub-agents.
        if (now() - refreshedAt >= limits.attachRefreshMs) {
          refreshedAt = now();
          await rollouts.refresh();
        }
        return rollouts.listFiles(session);
      },
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

function toOpencodeSource(sessions: OpencodeSessions): SessionSource {
  return {
    format: {
      program: 'opencode',
      listFiles: (session) => sessions.listFiles(session),
      createTranslator: () => new MessageTranslator(),
      readFacts: ({ fields }) => ({ directory: fields['directory'], version: fields['version'] }),
    },
    find: (named) => sessions.find(named),
    findAll: () => sessions.findAll(),
  };
}
