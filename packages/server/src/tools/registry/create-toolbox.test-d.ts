import { expectTypeOf } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { createToolbox, type ToolboxOptions } from './create-toolbox.ts';
import type { ToolLimits } from '../tool-limits.ts';
import type { Toolbox, ToolOffer } from '../toolbox.ts';

// Everything is optional, and nothing that is not an option gets through.
expectTypeOf(createToolbox()).toEqualTypeOf<Toolbox>();
createToolbox({
  allowUnsandboxedBash: true,
  allowBashNetwork: false,
  readOnlyPaths: ['/opt/node'],
  allowedPrivateHosts: ['docs.internal', '127.0.0.1:8080'],
  mcpHeaders: async ({ name, url }) => ({ authorization: `Bearer ${name} ${url}` }),
  clock: createManualClock(),
  limits: { bashTimeoutMs: 1_000 },
  findProgram: async () => undefined,
  resolveHost: async () => ['1.1.1.1'],
});
// @ts-expect-error -- the store's limits are not the tools'
createToolbox({ limits: { frameBytesMax: 1 } });
// @ts-expect-error -- a list, because each is a decision
createToolbox({ allowedPrivateHosts: '*' });

expectTypeOf<ToolboxOptions['limits']>().toEqualTypeOf<Partial<ToolLimits> | undefined>();
expectTypeOf<Awaited<ReturnType<Toolbox['offer']>>>().toEqualTypeOf<ToolOffer>();
