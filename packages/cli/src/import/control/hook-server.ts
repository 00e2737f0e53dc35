import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../base/is-object.ts';
import { limits } from '../../base/limits.ts';
import { toObject, toText } from '../transcript-record.ts';

/** A permission prompt that Claude Code shows in a terminal. */
export interface TerminalPrompt {
  /** The session id of Claude Code. */
  readonly session: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly since: number;
  /** Whether the terminal has decided or the program has ended. */
  readonly isGone: boolean;
  /** Sends the decision to the program. Null leaves the decision to the terminal. Only the first call has an effect. */
  answer(decision: PromptDecision | null): void;
}

/** A decision in the format of the hook. */
export type PromptDecision =
  | { readonly behavior: 'allow'; readonly updatedInput?: unknown }
  | { readonly behavior: 'deny'; readonly message?: string; readonly interrupt?: true };

/**
 * Receives the permission prompts of Claude Code from a hook. The hook is a command that connects to a socket in a directory of this
 * user, so that no other user can decide, even after this process has ended.
 */
export class HookServer {
  /** The command of the hook. */
  readonly command: string;
  readonly #directory: string;
  readonly #server: Server;
  readonly #now: () => number;
  readonly #prompts = new Set<TerminalPrompt>();
  readonly #sockets = new Set<Socket>();

  private constructor(directory: string, now: () => number) {
    this.#directory = directory;
    this.#now = now;
    const path = join(directory, 's');
    this.command = [process.execPath, '-e', HOOK_SCRIPT, path].map(quote).join(' ');
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = limits.attachPromptsMax;
    this.#server.listen(path);
  }

  static async open(now: () => number): Promise<HookServer> {
    const opened = new HookServer(await mkdtemp(join(tmpdir(), `${HOOK_DIRECTORY}${process.pid}-`)), now);
    await once(opened.#server, 'listening');
    return opened;
  }

  /** The prompts that wait for a decision, oldest first. */
  get prompts(): readonly TerminalPrompt[] {
    return [...this.#prompts];
  }

  /** Leaves all prompts to their terminals. */
  async close(): Promise<void> {
    this.#server.close();
    for (const prompt of this.#prompts) prompt.answer(null);
    for (const socket of this.#sockets) socket.destroy();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #accept(socket: Socket): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.importLineBytesMax) socket.destroy();
      else chunks.push(chunk);
    });
    socket.on('end', () => {
      const prompt = this.#read(Buffer.concat(chunks).toString('utf8'), socket);
      if (prompt === undefined) socket.end();
      else this.#prompts.add(prompt);
    });
  }

  #read(text: string, socket: Socket): TerminalPrompt | undefined {
    const fields = toObject(parse(text));
    const [session, tool, input] = [toText(fields['session_id']), toText(fields['tool_name']), fields['tool_input']];
    if (session === undefined || tool === undefined || !isObject(input)) return undefined;
    const prompts = this.#prompts;
    const prompt: TerminalPrompt = {
      session,
      tool,
      input,
      since: this.#now(),
      get isGone() {
        return socket.destroyed;
      },
      answer(decision) {
        prompts.delete(prompt);
        if (socket.destroyed || socket.writableEnded) return;
        socket.end(decision === null ? '' : JSON.stringify(toOutput(decision)));
      },
    };
    // The program ends the hook when the terminal has decided.
    socket.on('close', () => prompts.delete(prompt));
    return prompt;
  }
}

/** The beginning of the directory's name; the id of the process follows. */
export const HOOK_DIRECTORY = 'fleetloom-attach-';

/** Copies the prompt to the socket and the decision back. Without a server the script exits without a decision. */
const HOOK_SCRIPT =
  'const s=require("net").connect({path:process.argv[1],allowHalfOpen:true});s.on("error",()=>process.exit(0));s.on("end",()=>process.exit(0));process.stdin.pipe(s);s.pipe(process.stdout)';

function toOutput(decision: PromptDecision): object {
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text did not come from the hook.
    return undefined;
  }
}
