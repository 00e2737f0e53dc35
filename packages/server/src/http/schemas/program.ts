import { z } from 'zod';
import { httpLimits } from '../limits.ts';
import { programControls } from '../../engines/program/program-controls.ts';
import { settingsChoices } from '../../engines/program/program.ts';

/** An installed program in responses. */
export const program = z
  .strictObject({
    type: z.literal('program'),
    id: z.string(),
    /** The installed version; null if the program is not installed. */
    version: z.string().nullable(),
    is_sandboxed: z.boolean(),
    /** Values of `claude_code.permission_mode`, `claude_code.depth` and `claude_code.settings` in a session's metadata. */
    permission_modes: z.array(z.string()),
    depths: z.array(z.int()),
    settings: z.array(z.enum(settingsChoices)),
    /** The requests below `/v1/sessions/{session_id}/program/` that the installed version supports. */
    controls: z.array(z.enum(programControls)),
    /** The capabilities of the program; docs/engines.md explains each. */
    capabilities: z.strictObject({
      sub_agent_text: z.enum(['deltas', 'blocks', 'none']),
      roster: z.boolean(),
      sub_agent_report: z.enum(['result', 'message']),
      approvals: z.enum(['definition', 'program']),
      denial_reason: z.enum(['result', 'message']),
      changed_input: z.boolean(),
      questions: z.boolean(),
      custom_tools: z.enum(['all_agents', 'main_agent', 'none']),
      system_prompt: z.enum(['system', 'message']),
      command_output: z.enum(['live', 'if_offered', 'at_end']),
      plans: z.boolean(),
      steering: z.enum(['turn', 'next_turn']),
      model_change: z.enum(['request', 'turn']),
      request_usage: z.enum(['at_end', 'later', 'turn']),
      stop_reasons: z.boolean(),
      failure_status: z.boolean(),
      waits_for_reader: z.boolean(),
      resume: z.enum(['always', 'if_offered']),
      fork: z.boolean(),
      recovery: z.boolean(),
    }),
  })
  .meta({ id: 'Program' });

/** The programs that a server knows, in responses. */
export const programList = z
  .strictObject({
    data: z.array(
      z.strictObject({
        type: z.literal('fleet_program'),
        id: z.string(),
        version: z.string().nullable(),
        is_sandboxed: z.boolean().nullable(),
        problem: z.string().nullable(),
        models: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'Programs' });

const sessionId = z.string();

/** The token usage that a program reports. */
export const programUsage = z
  .strictObject({
    type: z.literal('program_usage'),
    session_id: sessionId,
    cost_usd: z.number().nullable(),
    lines_added: z.int().nullable(),
    lines_removed: z.int().nullable(),
    models: z.array(
      z.strictObject({
        model: z.string(),
        input_tokens: z.number(),
        output_tokens: z.number(),
        cache_read_input_tokens: z.number(),
        cache_creation_input_tokens: z.number(),
        cost_usd: z.number().nullable(),
      }),
    ),
    /** Limits of the plan that the program is logged in with; empty if it reports none. */
    plan_limits: z.array(
      z.strictObject({ name: z.string(), used_percent: z.number(), resets_at: z.string().nullable() }),
    ),
  })
  .meta({ id: 'ProgramUsage' });

/** The difference between a workspace and its repository, as the program reports it. */
export const programDiff = z
  .strictObject({
    type: z.literal('program_diff'),
    session_id: sessionId,
    files: z.array(
      z.strictObject({
        path: z.string(),
        status: z.string(),
        lines_added: z.number(),
        lines_removed: z.number(),
        is_binary: z.boolean(),
        /** Hunks of a unified diff; null for untracked, binary and large files. */
        patch: z.string().nullable(),
      }),
    ),
    files_omitted: z.number(),
    /** Why there is no diff; null if there is one. */
    reason: z.string().nullable(),
  })
  .meta({ id: 'ProgramDiff' });

/** The body of `POST …/program/rewind`. */
export const programRewindBody = z
  .strictObject({
    /** The id of a `user.message` event: files are restored to their state before it. */
    message_id: z.string().min(1).max(httpLimits.pathIdCharsMax),
    dry_run: z.boolean().optional(),
  })
  .meta({ id: 'ProgramRewindParams' });

/** The files that a rewind has restored. */
export const programRewind = z
  .strictObject({
    type: z.literal('program_rewind'),
    session_id: sessionId,
    message_id: z.string(),
    dry_run: z.boolean(),
    files: z.array(z.string()),
    lines_added: z.number(),
    lines_removed: z.number(),
  })
  .meta({ id: 'ProgramRewind' });
