import { z } from 'zod';
import { bindTool, defineTool } from '../define-tool.ts';
import type { Tool } from '../tool.ts';
import { ToolFailure } from '../tool-failure.ts';

/** Searching the web needs somebody who has searched it before, and this server knows nobody. */
export function createWebSearchTool(): Tool {
  return bindTool(DEFINITION, async () => {
    throw new ToolFailure('no search provider is configured on this server: if you know an address, use web_fetch');
  });
}

const DEFINITION = defineTool({
  name: 'web_search',
  description: 'Searches the web.',
  input: z.object({ query: z.string().min(1).describe('What to look for') }),
});
