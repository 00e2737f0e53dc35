import { InvalidArgumentError } from 'commander';
import { limits } from '../base/limits.ts';

/** Parses a TCP port; 0 means any free port. */
export function parsePort(value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && value.trim() !== '') return port;
  throw new InvalidArgumentError('Pass a number from 0 to 65535.');
}

/** Parses a whole number of at least 1. */
export function parseCount(value: string): number {
  const count = Number(value);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('Pass a whole number of at least 1.');
}

/** Parses the size of the largest file that is recorded, in megabytes. */
export function parseSnapshotFileMb(value: string): number {
  const size = Number(value);
  if (Number.isInteger(size) && size >= 1 && size <= limits.snapshotFileMbMax) return size;
  throw new InvalidArgumentError(`Pass a whole number from 1 to ${limits.snapshotFileMbMax}.`);
}

/** Parses a time: ISO 8601, or how long ago, such as `30m`, `12h` or `7d`. Returns it as ISO 8601. */
export function parseTime(value: string, nowMs: number): string {
  const [, amount = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(value.trim()) ?? [];
  const ago = Number(amount) * (UNITS_MS[unit] ?? Number.NaN);
  const time = Number.isFinite(ago) ? nowMs - ago : Date.parse(value);
  if (Number.isFinite(time)) return new Date(time).toISOString();
  throw new InvalidArgumentError('Pass how long ago, such as 30m, 12h or 7d, or a time in ISO 8601.');
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
