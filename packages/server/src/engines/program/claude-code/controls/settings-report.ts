import { createMessage, type StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from '../../../../base/limits.ts';
import { programLimits } from '../../limits.ts';
import type { SettingsChoice } from '../../program.ts';
import type { ProgramSettings } from '../../program.ts';
import { record, records, text } from '../../lines/values.ts';

/**
 * Requests what a program has loaded beside the agent's definition. Only the program knows: which files it loads depends on its version, on
 * the directories above the workspace and on the operator.
 */
export class SettingsReport {
  readonly #settings: Exclude<SettingsChoice, 'none'>;
  readonly #answers = new Map<string, Record<string, unknown>>();

  constructor(settings: Exclude<SettingsChoice, 'none'>) {
    this.#settings = settings;
  }

  /** The lines that request the report. */
  get requests(): readonly string[] {
    return [
      createMessage.request('get_settings', {}, { requestId: SETTINGS }),
      // The summary, because token counts would need model requests.
      createMessage.request('get_context_usage', { detail: 'summary' }, { requestId: CONTEXT }),
    ];
  }

  /** Whether the line is a response to these requests. */
  take(line: StreamJsonMessage): boolean {
    const response = line.type === 'control_response' ? record(line['response']) : undefined;
    const id = text(response?.['request_id']);
    if (id !== SETTINGS && id !== CONTEXT) return false;
    this.#answers.set(id, record(response?.['response']) ?? {});
    return true;
  }

  get isComplete(): boolean {
    return this.#answers.size === 2;
  }

  toEvent(): ProgramSettings {
    const context = this.#answers.get(CONTEXT) ?? {};
    const sources = records(this.#answers.get(SETTINGS)?.['sources']).filter(
      ({ source }) => source !== 'flagSettings' && source !== 'policySettings',
    );
    const settings = sources.map((each) => record(each['settings']) ?? {});
    const { disableAllHooks: areHooksOff } = record(this.#answers.get(SETTINGS)?.['effective']) ?? {};
    return {
      type: 'settings_loaded',
      settings: this.#settings,
      instructions: bounded(records(context['memoryFiles']).flatMap((file) => text(file['path']) ?? [])),
      hooks: areHooksOff === true ? [] : bounded(settings.flatMap((each) => toHooks(record(each['hooks']) ?? {}))),
      agents: bounded(toOwn(records(context['agents']), 'agentType')),
      skills: bounded(toOwn(records(record(context['skills'])?.['skillFrontmatter']), 'name')),
      rules: bounded(settings.flatMap((each) => toRules(record(each['permissions']) ?? {}))),
    };
  }
}

const SETTINGS = 'fleetloom-settings';
const CONTEXT = 'fleetloom-context';

/** Each hook as `<event>: <command>`. */
function toHooks(hooks: Record<string, unknown>): string[] {
  return Object.entries(hooks).flatMap(([event, matchers]) =>
    records(matchers)
      .flatMap((matcher) => records(matcher['hooks']))
      .map((hook) => `${event}: ${text(hook['command']) ?? text(hook['type']) ?? 'unknown'}`),
  );
}

/** Each rule as `<kind> <rule>`. */
function toRules(permissions: Record<string, unknown>): string[] {
  return ['allow', 'ask', 'deny'].flatMap((kind) => {
    const rules = permissions[kind];
    return Array.isArray(rules) ? rules.map((rule) => `${kind} ${String(rule)}`) : [];
  });
}

/** The names of items that the project or the user has defined, without those of the program itself and of this server. */
function toOwn(items: readonly Record<string, unknown>[], name: string): string[] {
  return items.flatMap((item) =>
    /^(project|user|local)/.test(text(item['source']) ?? '') ? (text(item[name]) ?? []) : [],
  );
}

function bounded(items: readonly string[]): readonly string[] {
  return items.slice(0, programLimits.programSettingsMax).map((item) => cutText(item, baseLimits.excerptCharsMax));
}
