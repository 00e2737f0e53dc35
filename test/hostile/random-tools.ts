import type { NastyValues } from './nasty-values.ts';
import type { Victim } from './victim.ts';

export interface ToolsReport {
  readonly calls: number;
  readonly results: number;
  /** Sessions that did not become idle, or calls without a result. */
  readonly failures: readonly string[];
}

const CALLS_PER_TURN = 10;
const TURNS_PER_SESSION = 5;

/** An agent that calls every built-in tool with random hostile input; each call must get a result, and the session must end. */
export async function callRandomTools(
  victim: Victim,
  nasty: NastyValues,
  count: number,
  { atOnce = 3 } = {},
): Promise<ToolsReport> {
  const failures: string[] = [];
  let begun = 0;
  let calls = 0;
  let results = 0;
  const work = async () => {
    while (begun < count) {
      begun += CALLS_PER_TURN * TURNS_PER_SESSION;
      const found = await runSession(victim, nasty);
      calls += found.calls;
      results += found.results;
      if (found.problem !== undefined) failures.push(found.problem);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { calls, results, failures };
}

async function runSession({ attacker: { beta } }: Victim, nasty: NastyValues) {
  const steps = Array.from({ length: TURNS_PER_SESSION }, () =>
    Array.from({ length: CALLS_PER_TURN }, () => makeCall(nasty)),
  );
  const calls = CALLS_PER_TURN * TURNS_PER_SESSION;
  // Not as placeholders of the script: one that takes too many steps ends the turn with an error, and no tool is called.
  const turns = JSON.stringify([...steps, [{ say: 'done' }]]).replaceAll('{{', '{ {');
  const script = `{"turns":${turns}}`.replaceAll('<', '\\u003c');
  const agent = await beta.agents.create({
    name: 'hostile',
    model: 'scripted/hostile',
    tools: [{ type: 'agent_toolset_20260401' }],
  });
  const environment = await beta.environments.create({ name: 'hostile' });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  await beta.sessions.events.send(session.id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: `<script>${script}</script>` }] }],
  });
  const deadline = Date.now() + 300_000;
  while ((await beta.sessions.retrieve(session.id)).status !== 'idle') {
    if (Date.now() > deadline) return { calls, results: 0, problem: `${session.id} is still running after 5 min` };
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  let results = 0;
  let last = '';
  for await (const event of beta.sessions.events.list(session.id, { limit: 1_000 })) {
    if (event.type === 'agent.tool_result') results += 1;
    if (event.type === 'agent.message' || event.type === 'session.error') last = JSON.stringify(event).slice(0, 500);
  }
  const problem = results === calls ? undefined : `${session.id}: ${results} results for ${calls} calls; last: ${last}`;
  await beta.sessions.delete(session.id);
  return { calls, results, problem };
}

function makeCall(nasty: NastyValues): { call: string; input: object } {
  const call = nasty.pick(['bash', 'read', 'write', 'edit', 'glob', 'grep'] as const);
  const input = inputs[call](nasty);
  return { call, input: nasty.chance(0.2) ? toObject(nasty.damage(input)) : input };
}

function toObject(value: unknown): object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value };
}

const inputs = {
  bash: (nasty: NastyValues) => ({ command: nasty.pick(commands), timeout_ms: nasty.pick([500, 1_000, 2_000]) }),
  read: (nasty: NastyValues) => ({
    file_path: path(nasty),
    ...(nasty.chance(0.3) ? { view_range: [nasty.int(5), nasty.int(100_000) - 10] } : {}),
  }),
  write: (nasty: NastyValues) => ({ file_path: path(nasty), content: nasty.text() }),
  edit: (nasty: NastyValues) => ({
    file_path: path(nasty),
    old_string: nasty.pick(['a', '\n', nasty.text().slice(0, 20) || 'x']),
    new_string: nasty.text(),
    replace_all: nasty.chance(0.7),
  }),
  glob: (nasty: NastyValues) => ({ pattern: nasty.pick([...patterns, nasty.text().slice(0, 500)]) }),
  grep: (nasty: NastyValues) => ({
    pattern: nasty.pick([...expressions, nasty.text().slice(0, 500)]),
    path: path(nasty),
  }),
};

function path(nasty: NastyValues): string {
  return nasty.pick(['a', 'b/c', 'line', 'sparse', 'pipe', 'link', '.', nasty.text().slice(0, 300)]);
}

/** Each is bounded in time by its own limit, in what it takes by those of the tool host. */
const commands = [
  'yes | head -c 20000000 | tr -d "\\n" > line; ls -l line | wc -c',
  'truncate -s 8T sparse; mkfifo pipe; ln -s /etc/passwd link; ln -s /proc/self/environ env; true',
  'yes',
  'cat /dev/zero',
  'head -c 50000000 /dev/urandom',
  ':(){ :|:& };:',
  'kill -9 -1',
  'kill -STOP -1',
  'kill -9 $PPID',
  'exec 1>&- 2>&-; sleep 1',
  'trap "" TERM INT HUP; sleep 1000',
  '(setsid sleep 1000 &) ; echo detached',
  'python3 -c "x = bytearray(3 * 10**9)" || perl -e "my \\$x = q(a) x 3000000000"',
  'for i in $(seq 1 2000); do exec {f}<>/dev/null; done; echo open',
  'head -c 3000000000 /dev/zero > big; rm -f big',
  'echo garbage > /proc/$PPID/fd/1; echo garbage > /proc/$PPID/fd/0',
  'printf "\\377\\377\\377\\377aaaa" > /proc/$PPID/fd/1',
  'cat > /proc/$PPID/mem < /dev/urandom',
  'rm -rf ./* .[a-z]* 2>/dev/null; echo gone',
  'chmod 000 . ; ls; chmod 755 .',
  'mkdir -p $(printf "d/%.0s" $(seq 1 500)); echo deep',
  'for i in $(seq 1 3000); do : > f$i; done; echo many',
  'cp /bin/true t; chmod 4755 t; ls -l t',
  'unshare -Ur true; mount -t tmpfs x /tmp; echo tried',
  'exit 255',
  'cd /; pwd',
  'exec true',
  'printf "\\033]0;x\\007\\000\\200\\377"',
  'echo ok',
];

const patterns = [
  '**',
  '{a,b}'.repeat(8),
  '{a,'.repeat(200),
  '*a'.repeat(100),
  '**/'.repeat(50),
  '[!a-z]*',
  '../*',
  '/etc/*',
];

const expressions = [
  '^(?:a|b|ab)*c',
  '(y+)+$',
  '(a{1,100}){1,100}',
  '.*.*.*.*=',
  '[',
  '(?=a)',
  '\\1',
  '(?i)PASS',
  '\\p{L}+$',
  '',
];
