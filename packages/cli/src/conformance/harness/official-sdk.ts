import Anthropic from '@anthropic-ai/sdk';
import { accumulateManagedAgentsEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate';
import { VERSION } from '@anthropic-ai/sdk/version';
import type { Sdk } from './context.ts';

/** The official SDK as it is installed, unmodified. */
export const officialSdk: Sdk = {
  name: `@anthropic-ai/sdk ${VERSION}`,
  Anthropic,
  accumulate: accumulateManagedAgentsEvent,
};
