/** A question of a program to the user, with its options. */
export interface Question {
  readonly text: string;
  readonly header: string | null;
  readonly options: readonly QuestionOption[];
  /** Whether more than one option can be chosen. */
  readonly isMultiple: boolean;
}

/** An answer that a question offers. */
export interface QuestionOption {
  readonly label: string;
  readonly description: string | null;
}

/** The questions of an `AskUserQuestion` call; empty for another call, or an input of another form. */
export function questionsOf({ tool, input }: { readonly tool: string; readonly input: unknown }): readonly Question[] {
  if (tool !== QUESTION_TOOL) return [];
  return listOf(fieldOf(input, 'questions')).flatMap((each) => {
    const text = textOf(fieldOf(each, 'question'));
    if (text === null) return [];
    const options = listOf(fieldOf(each, 'options')).flatMap((option) => {
      const label = textOf(fieldOf(option, 'label'));
      return label === null ? [] : [{ label, description: textOf(fieldOf(option, 'description')) }];
    });
    return [
      { text, header: textOf(fieldOf(each, 'header')), options, isMultiple: fieldOf(each, 'multiSelect') === true },
    ];
  });
}

/**
 * The text of the `user.custom_tool_result` that answers these questions, one answer for each. Several answers are an object by question;
 * so is one answer that is a JSON object, because the program would read its fields as questions.
 */
export function toAnswerText(questions: readonly Question[], answers: readonly string[]): string {
  const [first = ''] = answers;
  if (questions.length <= 1 && !first.trimStart().startsWith('{')) return first;
  return JSON.stringify(Object.fromEntries(questions.map(({ text }, index) => [text, answers[index] ?? ''])));
}

/** The name of the tool in Claude Code. */
const QUESTION_TOOL = 'AskUserQuestion';

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
