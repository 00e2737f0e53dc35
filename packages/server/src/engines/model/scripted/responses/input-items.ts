import { limits } from '../limits.ts';
import type { Block, ConversationMessage } from '../request/conversation.ts';
import { InvalidInput } from '../script/invalid-input.ts';
import { type Fields, readFields, readList, readName, readOr, readText } from '../script/read-fields.ts';

/**
 * Converts input items to messages. Consecutive items of the client become one user message, and consecutive items of the model one
 * assistant message, so that scripts count and match the same on both APIs.
 */
export class InputItems {
  readonly #messages: { role: 'user' | 'assistant'; blocks: Block[] }[] = [];
  readonly #system: string[] = [];
  readonly #addedTools: unknown[] = [];
  /** Whether a call has its output, by its id. */
  readonly #calls = new Map<string, boolean>();

  add(value: unknown, path: string): void {
    const fields = readFields(value, path);
    const type = readOr(fields['type'], 'message', (name) => readName(name, `${path}.type`));
    switch (type) {
      case 'message':
        return this.#addMessage(fields, path);
      case 'agent_message':
        return this.#addAll('user', readContent(fields['content'], `${path}.content`));
      case 'reasoning':
        return this.#addAll('assistant', [
          { type: 'thinking', text: readSummary(fields['summary'], `${path}.summary`) },
        ]);
      case 'function_call':
        return this.#addCall(fields, path, 'arguments');
      case 'custom_tool_call':
        return this.#addCall(fields, path, 'input');
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#addOutput(fields, path);
      case 'additional_tools':
        return addTo(this.#addedTools, readList(fields['tools'], `${path}.tools`, { max: limits.messagesMax }));
      case 'item_reference':
        throw new InvalidInput(path, 'is not supported: the scripted model stores nothing; send the item itself');
      default:
        // Searches, images and unknown items: accepted and ignored.
        return;
    }
  }

  finish(): { messages: readonly ConversationMessage[]; system: readonly string[]; addedTools: readonly unknown[] } {
    for (const [id, isAnswered] of this.#calls) {
      if (!isAnswered) throw new InvalidInput('input', `No tool output found for function call ${id}.`);
    }
    return { messages: this.#messages, system: this.#system, addedTools: this.#addedTools };
  }

  #addMessage(fields: Fields, path: string): void {
    const blocks = readContent(fields['content'], `${path}.content`);
    const { role } = fields;
    if (role === 'user' || role === 'assistant') return this.#addAll(role, blocks);
    if (role !== 'system' && role !== 'developer') {
      throw new InvalidInput(`${path}.role`, 'must be user, assistant, system or developer');
    }
    addTo(this.#system, textsOf(blocks));
  }

  #addCall(fields: Fields, path: string, input: 'arguments' | 'input'): void {
    const id = readName(fields['call_id'], `${path}.call_id`);
    const name = readName(fields['name'], `${path}.name`);
    const chars = name.length + readText(fields[input], `${path}.${input}`).length;
    this.#calls.set(id, false);
    this.#addAll('assistant', [{ type: 'tool_use', id, chars }]);
  }

  #addOutput(fields: Fields, path: string): void {
    const id = readName(fields['call_id'], `${path}.call_id`);
    if (!this.#calls.has(id)) {
      throw new InvalidInput(`${path}.call_id`, `No tool call found for function call output with call_id ${id}.`);
    }
    this.#calls.set(id, true);
    const text = textsOf(readContent(fields['output'], `${path}.output`)).join('\n');
    // The API does not mark failed calls.
    this.#addAll('user', [{ type: 'tool_result', id, text, isError: false }]);
  }

  #addAll(role: 'user' | 'assistant', blocks: readonly Block[]): void {
    const last = this.#messages.at(-1);
    if (last?.role === role) addTo(last.blocks, blocks);
    else this.#messages.push({ role, blocks: [...blocks] });
  }
}

/** One text, or a list of parts. */
function readContent(value: unknown, path: string): Block[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  return readList(value, path, { max: limits.messagesMax }).map((part, index) => {
    return readPart(readFields(part, `${path}[${index}]`), `${path}[${index}]`);
  });
}

function readPart(fields: Fields, path: string): Block {
  const type = readName(fields['type'], `${path}.type`);
  const name = textFields[type];
  return name === undefined ? { type: 'other' } : { type: 'text', text: readText(fields[name], `${path}.${name}`) };
}

/** The field with the text of each kind of part. Codex puts messages between its agents into `encrypted_content`. */
const textFields: Readonly<Record<string, string>> = {
  input_text: 'text',
  output_text: 'text',
  summary_text: 'text',
  refusal: 'refusal',
  encrypted_content: 'encrypted_content',
};

function readSummary(value: unknown, path: string): string {
  return value === undefined ? '' : textsOf(readContent(value, path)).join('\n');
}

function textsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

/** Not `push(...)`: a hundred thousand arguments do not fit on the stack. */
function addTo<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}
