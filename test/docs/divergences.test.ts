import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allChecks } from '../../packages/cli/src/conformance/all-checks.ts';
import { knownGaps } from '../../packages/cli/src/conformance/known-gaps.ts';
import { httpLimits } from '../../packages/server/src/http/limits.ts';
import { sessionLimits } from '../../packages/server/src/sessions/core/limits.ts';

const page = readFileSync(new URL('../../docs/divergences.md', import.meta.url), 'utf8');

describe('the page about differences', () => {
  it('[Q44] its numbers are those of the code', () => {
    const numberOf = (pattern: RegExp) => Number(pattern.exec(page)?.[1]);
    expect(numberOf(/about (\d+) statements/)).toBe(allChecks.length);
    expect(numberOf(/the first one within (\d+) seconds/)).toBe(httpLimits.catchUpMs / 1_000);
    expect(numberOf(/`ping` at least every (\d+) seconds/)).toBe(httpLimits.streamPingMs / 1_000);
    expect(numberOf(/^- (\d+) live children count/m)).toBe(sessionLimits.liveChildrenMax);
  });

  it('[Q44] states that there are no known gaps exactly when there are none', () => {
    expect(page.includes('there is none that our server does not keep')).toBe(knownGaps.size === 0);
  });
});
