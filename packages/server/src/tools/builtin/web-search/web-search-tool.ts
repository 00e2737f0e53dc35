import { z } from 'zod';
import { bindTool, defineTool } from '../../define-tool.ts';
import { ToolFailure } from '../../tool-failure.ts';
import type { ServerTool } from '../built-in-tool.ts';

/** `web_search`: agents may be configured for it, but this server has no search provider, so each call fails. */
export const webSearchTool: ServerTool = {
  name: 'web_search',
  open: () => ({ toTool: () => tool, closeThread: () => {} }),
};

const tool = bindTool(
  defineTool({
    name: webSearchTool.name,
    description: 'Searches the web.',
    input: z.object({ query: z.string().min(1).describe('What to look for') }),
  }),
  async () => {
    throw new ToolFailure('no search provider is configured on this server: if you know an address, use web_fetch');
  },
);
