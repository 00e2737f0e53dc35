import type { HostTool, ServerTool } from '../builtin/built-in-tool.ts';
import { bashTool } from '../builtin/bash/bash-tool.ts';
import { editTool } from '../builtin/edit/edit-tool.ts';
import { globTool } from '../builtin/glob/glob-tool.ts';
import { grepTool } from '../builtin/grep/grep-tool.ts';
import { readTool } from '../builtin/read/read-tool.ts';
import { webFetchTool } from '../builtin/web-fetch/web-fetch-tool.ts';
import { webSearchTool } from '../builtin/web-search/web-search-tool.ts';
import { writeTool } from '../builtin/write/write-tool.ts';

// One line for each built-in tool. Their names and traits are `builtInTools` of the protocol; the order is the same.

/** The tools that run in the tool host of a session. `host/program/run-tool.ts` loads their implementations. */
export const hostTools: readonly HostTool[] = [bashTool, readTool, writeTool, editTool, globTool, grepTool];

/** The tools that run in the server. */
export const serverTools: readonly ServerTool[] = [webFetchTool, webSearchTool];
