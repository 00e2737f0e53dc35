/** The turns of a scripted model; its documentation describes the format. */
export type Step =
  | { readonly think: string }
  | { readonly say: string; readonly chunks?: number; readonly every_ms?: number }
  | { readonly call: string; readonly input: object }
  | { readonly sleep_ms: number }
  | {
      readonly fail: {
        readonly status: number;
        readonly times?: number;
        readonly retry_after_s?: number;
        readonly message?: string;
      };
    }
  | { readonly stop: string }
  | {
      readonly expect: {
        readonly contains?: string | readonly string[];
        readonly tool_result?: string | readonly string[];
        readonly is_error?: boolean;
        readonly tools?: readonly string[];
      };
    };

/** A step that sleeps until an interrupt: longer than any check takes, even on a busy machine. */
export const sleeps: Step = { sleep_ms: 540_000 };

/** Token counts that a script reports for its model requests. */
export interface Usage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}

/** A system prompt that makes a scripted model play these turns. */
export function toScript(turns: readonly (readonly Step[])[], usage?: Usage): string {
  return wrap({ turns, ...(usage === undefined ? {} : { usage }) });
}

/** A system prompt that makes a scripted model select its turns by the last message. */
export function toCases(
  cases: readonly { readonly match: string; readonly turn: readonly Step[] }[],
  otherwise: readonly Step[],
): string {
  return wrap({ when: cases, else: otherwise });
}

function wrap(script: object): string {
  // A script ends at the first end tag, so its texts must not contain one.
  return `<script>${JSON.stringify(script).replaceAll('<', '\\u003c')}</script>`;
}
