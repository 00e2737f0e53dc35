import type { AgentCreateParams } from '@fleetloom/protocol/managed-agents';

// A fleet that needs no model: each agent plays a script. What its tools do is real.

type Step = Readonly<Record<string, unknown>>;

/** An agent whose model plays these turns, one for each request. */
export function scripted(
  name: string,
  description: string,
  turns: readonly (readonly Step[])[],
  usage: object = {},
): AgentCreateParams {
  const script = JSON.stringify({ turns, usage }).replaceAll('<', '\\u003c');
  return {
    name,
    description,
    model: 'scripted/demo',
    system: `${description}\n<script>${script}</script>`,
    tools: [
      {
        type: 'agent_toolset_20260401',
        default_config: { permission_policy: { type: 'always_allow' } },
        configs: [
          { name: 'bash', permission_policy: { type: 'always_ask' } },
          { name: 'edit', permission_policy: { type: 'always_ask' } },
        ],
      },
    ],
    metadata: { fleetloom: 'demo' },
  };
}

const say = (text: string, every_ms = 60): Step => ({ say: text, every_ms });
const think = (text: string, every_ms = 70): Step => ({ think: text, every_ms });
const call = (name: string, input: object): Step => ({ call: name, input });
const pause = (sleep_ms: number): Step => ({ sleep_ms });

/** The crew, by what they do to a small shop written in TypeScript. */
export const crew: readonly AgentCreateParams[] = [
  scripted('reviewer', 'Reads code and says what is wrong with it.', [
    [
      think('The task names a module. I read it as a whole before I judge single lines.'),
      call('read', { file_path: 'src/cart.ts' }),
    ],
    [
      think('The total is rounded on every item. That adds up to cents for large carts.'),
      say('Rounding happens per item in `total()`. I look where else money is rounded.'),
      call('grep', { pattern: 'Math.round', path: 'src' }),
    ],
    [
      say(
        '## Review of `src/cart.ts`\n\n1. **Rounding per item** drifts by up to one cent per line. Sum first, round once.\n2. `addItem` trusts its caller: a negative quantity passes.\n3. `discount` is applied after tax in `checkout.ts`, before tax here.\n\n```ts\nconst total = round(items.reduce((sum, { price, quantity }) => sum + price * quantity, 0));\n```\n\nNothing else stood out.',
        40,
      ),
    ],
  ]),
  scripted('tester', 'Runs the tests and writes missing ones.', [
    [think('First I see which tests there are.'), call('glob', { pattern: '**/*.test.ts' })],
    [
      say('There is one test file. I clear the old build first, so that nothing stale is tested.'),
      call('bash', { command: 'rm -rf build/ && mkdir -p build && ls -la src && wc -l src/*.ts' }),
    ],
    [say('The build is clean. Tests that I would add: an empty cart, a negative quantity, two discounts at once.', 50)],
  ]),
  scripted('docs', 'Keeps the documentation true.', [
    [think('The README promises an API. I compare it with the code.'), call('read', { file_path: 'README.md' })],
    [
      say('The README names `cart.remove`, which is called `removeItem` by now.'),
      pause(1_500),
      call('grep', { pattern: 'export function', path: 'src' }),
    ],
    [
      say('I correct the name in the README.'),
      call('edit', { file_path: 'README.md', old_string: 'cart.remove(id)', new_string: 'cart.removeItem(id)' }),
    ],
    [say('The README says what the code does again.', 40)],
  ]),
  scripted('perf', 'Finds what is slow.', [
    [
      think('Slow carts are large carts. I look for loops inside loops.', 90),
      call('grep', { pattern: 'for \\(', path: 'src' }),
    ],
    [
      think('`findItem` walks the list for each discount.', 90),
      say('`applyDiscounts` is quadratic: it looks each item up by walking the list. A map by id makes it linear.', 70),
    ],
    [pause(3_000), say('With 10,000 items that is the difference between 2 s and 4 ms.', 70)],
  ]),
  scripted('security', 'Looks for ways to misuse it.', [
    [think('Input from outside enters in `checkout.ts`.'), call('read', { file_path: 'src/checkout.ts' })],
    [
      { fail: { status: 529, message: 'Overloaded', times: 2, retry_after_s: 3 } },
      say(
        'The coupon code goes into a regular expression unescaped: `new RegExp(coupon)` lets a customer write one that never ends.',
        60,
      ),
    ],
  ]),
  scripted('builder', 'Changes code.', [
    [think('A map by id, and one rounding at the end.'), call('read', { file_path: 'src/cart.ts' })],
    [
      say('I write the new total beside the old one and compare both.'),
      call('write', {
        file_path: 'src/total.ts',
        content:
          "import type { Item } from './cart.ts';\n\nexport function total(items: readonly Item[]): number {\n  return Math.round(items.reduce((sum, { price, quantity }) => sum + price * quantity, 0) * 100) / 100;\n}\n",
      }),
    ],
    [
      think('Both agree on whole cents. The new one is right on the others.', 80),
      say('`total` sums first and rounds once. The old function stays until the tests agree.', 60),
    ],
  ]),
  scripted('migrator', 'Moves data from old forms to new ones.', [
    [think('Orders of last year have no currency.'), call('grep', { pattern: 'currency', path: 'src' })],
    [
      pause(2_000),
      say("Orders without a currency are in the shop's own. I add it while reading, and write nothing back.", 80),
    ],
    [
      call('write', {
        file_path: 'notes/migration.md',
        content: '# Migration\n\nRead: fill in the currency. Write: never change old orders.\n',
      }),
    ],
    [say('Done. The note says how to undo it.', 50)],
  ]),
  scripted('fragile', 'Fails, so that you see how that looks.', [
    [think('This will not end well.'), call('read', { file_path: 'src/no-such-file.ts' })],
    [
      {
        fail: {
          status: 400,
          type: 'invalid_request_error',
          message: 'the script ends this agent on purpose',
          times: 9,
        },
      },
    ],
  ]),
];

const areas = ['the cart', 'checkout', 'discounts', 'taxes', 'shipping', 'search', 'returns', 'the admin pages'];

/** So many tasks, each for the next of the crew. */
function toTasks(count: number): readonly { agent: string; message: string }[] {
  return Array.from({ length: count }, (_, index) => {
    const { name } = crew[index % crew.length]!;
    return { agent: name, message: `Look after ${areas[(index * 3) % areas.length]} and report what matters.` };
  });
}

const files: Readonly<Record<string, string>> = {
  'README.md':
    '# Shop\n\n- `cart.add(item)` puts something into the cart\n- `cart.remove(id)` takes it out again\n- `checkout(cart)` pays\n',
  'src/cart.ts':
    'export interface Item { id: string; price: number; quantity: number }\n\nexport function total(items: Item[]): number {\n  let sum = 0;\n  for (const item of items) sum += Math.round(item.price * item.quantity * 100) / 100;\n  return sum;\n}\n\nexport function removeItem(items: Item[], id: string): Item[] {\n  return items.filter((item) => item.id !== id);\n}\n',
  'src/checkout.ts':
    "import { total, type Item } from './cart.ts';\n\nexport function pay(items: Item[], coupon: string, text: string): number {\n  return new RegExp(coupon).test(text) ? total(items) * 0.9 : total(items);\n}\n",
  'src/cart.test.ts':
    "import { total } from './cart.ts';\n\nif (total([]) !== 0) throw new Error('an empty cart costs nothing');\n",
};

/** The one that is asked: it writes the sample project, gives out the tasks, and puts the reports together. */
export function coordinator(count: number): AgentCreateParams {
  const tasks = toTasks(count);
  const blocks = Array.from({ length: Math.ceil(count / TASKS_PER_CALL) }, (_, index) =>
    tasks.slice(index * TASKS_PER_CALL, (index + 1) * TASKS_PER_CALL),
  );
  return scripted('coordinator', 'Splits work up and puts the reports together.', [
    [
      think('A small shop, and a question about all of it. I lay the files out and then split the work by area.'),
      say('I prepare the sample project.'),
      ...Object.entries(files).map(([file_path, content]) => call('write', { file_path, content })),
    ],
    [
      think('The areas do not depend on each other: everybody can begin at once.'),
      say(`${count} agents look at it from all sides.`),
      ...blocks.map((part) => call('delegate', { tasks: part })),
    ],
    [
      think('Everybody has reported. The rounding comes up most often, so it goes first.'),
      say(
        '# What the fleet found\n\n| finding | found by | weight |\n|---|---|---|\n| rounding per item | reviewer | high |\n| coupon as regular expression | security | high |\n| quadratic discounts | perf | medium |\n| README out of date | docs | low |\n\nThe new `total()` is written. One agent failed on purpose; its area needs another look.',
        40,
      ),
    ],
  ]);
}

const TASKS_PER_CALL = 12;
