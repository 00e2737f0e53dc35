import Anthropic from 'anthropic-sdk-0';
import { accumulateManagedAgentsEvent } from 'anthropic-sdk-0/lib/sessions/accumulate';
import { VERSION } from 'anthropic-sdk-0/version';
import { describe, expect, it } from 'vitest';
import { failuresOf, numbersOf, reportOurServer, SUITE_MS } from './conformance.suite.ts';
import type { Sdk } from './harness/context.ts';
import { knownGaps } from './known-gaps.ts';

describe('our server and an official SDK of before 1.0', () => {
  it(
    '[Q2] the same statements hold, although it sends other headers, paths and fewer fields',
    async () => {
      // The cast: what the checks call has the same names in both; where the forms differ the checks find out.
      const sdk = {
        name: `@anthropic-ai/sdk ${VERSION}`,
        Anthropic,
        accumulate: accumulateManagedAgentsEvent,
      } as unknown as Sdk;
      expect(sdk.name).toBe('@anthropic-ai/sdk 0.120.0');
      const report = await reportOurServer(sdk);
      expect(failuresOf(report)).toEqual([]);
      expect(numbersOf(report, 'known_gap')).toEqual([...knownGaps.keys()]);
      expect(numbersOf(report, 'not_applicable')).toEqual([14, 114, 126, 158]);
    },
    SUITE_MS,
  );
});
