import { resolve } from 'node:path';
import { limits as serverLimits, SCOPES, type Scope } from '@fleetloom/server';
import { UsageError } from '../base/usage-error.ts';

/** The options of `keys create` that limit the new key. */
export interface KeyLimitOptions {
  readonly scope?: readonly string[] | undefined;
  readonly expires?: string | undefined;
  readonly directory?: readonly string[] | undefined;
  readonly engine?: readonly string[] | undefined;
}

/** The limits of a new key. An absent option limits nothing. Throws a usage error. */
export function toKeyLimits({ scope, expires, directory, engine }: KeyLimitOptions, now: number) {
  return {
    ...(scope === undefined ? {} : { scopes: toScopes(splitList(scope)) }),
    ...(expires === undefined ? {} : { expiresAt: toExpiry(expires, now) }),
    ...(directory === undefined
      ? {}
      : {
          directories: bounded(
            '--directory',
            directory.map((path) => resolve(path)),
          ),
        }),
    ...(engine === undefined ? {} : { engines: bounded('--engine', splitList(engine).map(toEngine)) }),
  };
}

/** How long an old secret stays valid; undefined if the server decides. */
export function toOverlapMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = text === '0' ? 0 : toMs(text);
  if (ms !== undefined && ms <= serverLimits.keyOverlapMsMax) return ms;
  throw new UsageError(
    `--overlap ${text} is not a time of at most 90d.`,
    'Pass a time such as 30m, 12h or 7d, or 0 to end the old secret at once.',
  );
}

function toScopes(names: readonly string[]): readonly Scope[] {
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name));
  if (unknown !== undefined || names.length === 0) {
    throw new UsageError(`--scope ${unknown ?? ''} is not a scope.`, `The scopes are ${SCOPES.join(', ')}.`);
  }
  return SCOPES.filter((scope) => names.includes(scope));
}

function toExpiry(text: string, now: number): number {
  const ms = toMs(text);
  const at = ms === undefined ? toTime(text) : now + ms;
  if (at > now && at <= TIME_MS_MAX) return at;
  throw new UsageError(
    `--expires ${text} is not a time in the future.`,
    'Pass a time such as 2027-01-31 or 2027-01-31T12:00Z, or how long the key works: 12h, 90d.',
  );
}

/** Parses a date, which means the end of that day in UTC, or a time with its time zone. Without one, the time would depend on the machine. */
function toTime(text: string): number {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return Date.parse(`${text}T00:00:00Z`) + DAY_MS;
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text)
    ? Date.parse(text)
    : NaN;
}

function toMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

const DAY_MS = 86_400_000;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };
/** The last moment of a JavaScript Date. */
const TIME_MS_MAX = 8.64e15;

function splitList(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => value.split(',')).filter((value) => value !== '');
}

function toEngine(name: string): string {
  if (/^(?:model|scripted|claude-code|codex|opencode|acp|acp:[A-Za-z0-9][\w.-]{0,62})$/.test(name)) return name;
  throw new UsageError(
    `--engine ${name} is not an engine.`,
    'The engines are model, scripted, claude-code, codex, opencode, acp and acp:<name>.',
  );
}

function bounded(option: string, values: readonly string[]): readonly string[] {
  const { keyValuesMax, keyLimitCharsMax } = serverLimits;
  if (values.length <= keyValuesMax && values.every((value) => value.length <= keyLimitCharsMax)) return values;
  throw new UsageError(
    `${option} has more than ${keyValuesMax} values, or one of more than ${keyLimitCharsMax} characters.`,
    'Create a key for each purpose.',
  );
}
