import { resolve } from 'node:path';
import { locate, readImports, readWorkspace } from './support/locate-imports.mjs';
import { findCycles } from './support/find-cycles.mjs';
import { repositoryRoot } from './support/root.mjs';
import { isSource, listFiles } from './support/source-files.mjs';

// Checks that imports go one way, as drawn in ARCHITECTURE.md; these tables define the allowed imports. Usage: check-arrows.mjs [root]

/** The packages that each package may import. Code for browsers does not import Node modules. */
const packageArrows = {
  protocol: { to: [], inBrowsers: true },
  client: { to: ['protocol'], inBrowsers: true },
  web: { to: ['protocol', 'client'], inBrowsers: true },
  server: { to: ['protocol'], inBrowsers: false },
  cli: { to: ['protocol', 'client', 'server'], inBrowsers: false },
};

/** The contracts of the log and its producers, without their implementations. */
const contracts = ['base', 'store/*', 'frames', 'tools/*', 'engines/model/*', 'engines/program/*'];
/** The contract of program engines, and code that several of them share. */
const programs = 'engines/program';
const programParts = ['*', 'lines', 'mcp', 'gateway', 'launch', 'process', 'engine'].map(
  (part) => `${programs}/${part}`,
);
/** The formats that programs write and read. */
const programLines = ['*', 'lines', 'mcp'].map((part) => `${programs}/${part}`);
/** The program engines that run the claude program, Codex, opencode and ACP agents. */
const claudeCode = `${programs}/claude-code`;
const codex = `${programs}/codex`;
const opencode = `${programs}/opencode`;
const acp = `${programs}/acp`;
/** Folders that keep records of one kind in the store. */
const records = ['agents', 'environments', 'files', 'keys', 'rules', 'vaults', 'workspaces'];
/** The folders of the dashboard that every page may import, and the parts of the session page. */
const belowPages = ['model', 'text', 'stores', 'ui'];
const sessionParts = ['transcript', 'changes', 'export', 'inspector', 'compare', 'find', 'fork', 'replay'];

/**
 * The folders that each folder of a package may import. A listed folder is an area: it covers its sub-folders except
 * those that are listed themselves. `store` in a list allows the area and everything below it, `store/*` only the files
 * directly in store: its contract, not one of its implementations. Files beside the folders (index.ts, server.ts) put the
 * whole together: they may import everything, and no folder imports them. A package that is not listed has no rules.
 * `*` as a folder is the rule of every folder that is not listed, as an arrow it allows all of them.
 */
const folderArrows = {
  protocol: {
    sse: [],
    text: [],
    'stream-json': [],
    fleet: ['sse', 'text'],
    rules: ['fleet'],
    'managed-agents': ['sse'],
  },
  server: {
    base: [],
    store: ['base'],
    log: ['base', 'store/*'],
    frames: ['base', 'store/*'],
    tools: ['base'],
    'tools/workspace': ['base', 'tools/*'],
    'tools/network': ['base', 'tools/*'],
    'tools/sandbox': ['base', 'tools/*', 'tools/workspace'],
    'tools/mcp': ['base', 'tools/*', 'tools/network'],
    'tools/builtin': ['base', 'tools/*', 'tools/workspace', 'tools/network'],
    'tools/host': ['base', 'tools/*', 'tools/workspace', 'tools/sandbox', 'tools/builtin'],
    'tools/packages': ['base', 'tools/*', 'tools/sandbox', 'tools/host'],
    'tools/registry': ['base', 'tools'],
    'engines/model/scripted/script': ['base', 'engines/model/scripted/*'],
    'engines/model/scripted/request': ['base', 'engines/model/scripted/*', 'engines/model/scripted/script'],
    'engines/model': ['base', 'engines/model'],
    'engines/program': ['base', 'engines/model/*'],
    [`${programs}/lines`]: ['base'],
    [`${programs}/mcp`]: ['base', `${programs}/lines`],
    [`${programs}/gateway`]: ['base', 'engines/model', `${programs}/*`],
    [`${programs}/launch`]: ['base', `${programs}/*`],
    [`${programs}/process`]: ['base', `${programs}/*`, `${programs}/launch`],
    [`${programs}/engine`]: ['base', ...['*', 'gateway', 'launch', 'process'].map((part) => `${programs}/${part}`)],
    [`${claudeCode}/lines`]: ['base', `${programs}/lines`],
    [`${claudeCode}/approvals`]: ['base', ...programLines, `${claudeCode}/lines`],
    [`${claudeCode}/controls`]: ['base', `${programs}/*`, `${programs}/lines`, `${claudeCode}/lines`],
    [`${claudeCode}/launch`]: ['base', ...programLines, `${programs}/launch`, `${claudeCode}/approvals`],
    [`${claudeCode}/transcript`]: [
      'base',
      `${programs}/*`,
      `${programs}/lines`,
      `${programs}/launch`,
      `${claudeCode}/lines`,
      `${claudeCode}/launch`,
    ],
    [`${claudeCode}/translate`]: [
      'base',
      'engines/model/*',
      ...['*', 'lines', 'gateway'].map((part) => `${programs}/${part}`),
      ...['lines', 'approvals', 'transcript'].map((part) => `${claudeCode}/${part}`),
    ],
    [claudeCode]: ['base', 'engines/model', ...programParts, claudeCode],
    [`${codex}/approvals`]: ['base', ...programLines],
    [`${codex}/translate`]: ['base', 'engines/model/*', ...programLines, codex],
    [`${codex}/launch`]: ['base', ...programLines, `${programs}/launch`, `${codex}/approvals`],
    [codex]: ['base', 'engines/model', ...programParts, codex],
    [`${opencode}/wire`]: ['base', `${programs}/lines`],
    [`${opencode}/approvals`]: ['base', ...programLines, `${opencode}/wire`],
    [`${opencode}/translate`]: [
      'base',
      'engines/model/*',
      ...['*', 'lines'].map((part) => `${programs}/${part}`),
      ...['wire', 'approvals'].map((part) => `${opencode}/${part}`),
    ],
    [`${opencode}/launch`]: ['base', ...programLines, `${programs}/launch`, `${opencode}/approvals`],
    [opencode]: ['base', 'engines/model', ...programParts, opencode],
    [`${acp}/approvals`]: ['base', ...programLines],
    [`${acp}/translate`]: ['base', 'engines/model/*', ...programLines, `${acp}/approvals`],
    [`${acp}/launch`]: ['base', ...programLines, `${programs}/launch`],
    [acp]: ['base', 'engines/model', ...programParts, acp],
    agents: ['base', 'store/*'],
    environments: ['base', 'store/*'],
    files: ['base', 'store/*', 'tools/*', 'tools/workspace', 'engines/model/*', 'engines/program/*'],
    keys: ['base', 'store/*'],
    rules: ['base', 'store/*', 'tools/workspace'],
    'single-sign-on': ['base', 'store/*', 'keys'],
    vaults: ['base', 'store/*', 'keys', 'tools/mcp', 'tools/network', 'webhooks'],
    egress: ['base', 'store/*', 'frames', 'tools/*', 'tools/network', 'tools/sandbox'],
    workspaces: ['base', 'store/*', 'log', 'frames', 'tools', 'files'],
    metrics: ['base', 'store/*', 'log', 'frames', 'engines/model/*'],
    nodes: ['base', 'store/*'],
    views: ['base', 'store/*', 'log', 'frames', 'engines/program/*'],
    push: ['base', 'store/*', 'log', 'frames', 'keys', 'tools/network'],
    webhooks: ['base', 'store/*', 'log', 'frames', 'views'],
    'sessions/core/state': [...contracts, 'sessions/core/*'],
    'sessions/core/turn': [...contracts, 'sessions/core/*', 'sessions/core/state'],
    'sessions/core/delegation': [
      ...contracts,
      'agents',
      'sessions/core/*',
      'sessions/core/state',
      'sessions/core/turn',
    ],
    'sessions/core/program': [
      ...contracts,
      'sessions/core/*',
      'sessions/core/state',
      'sessions/core/turn',
      'sessions/core/delegation',
    ],
    'sessions/core': [...contracts, 'agents', 'environments', 'sessions/core'],
    'sessions/runtime': [...contracts, 'log', 'tools/workspace', 'nodes', 'rules', 'workspaces', 'sessions/core'],
    'sessions/api': [...contracts, 'log', 'environments', 'rules', 'sessions/core', 'sessions/runtime'],
    sessions: ['sessions/core', 'sessions/runtime', 'sessions/api'],
    'http/request': [...contracts, 'http/*', 'files'],
    'http/auth': [...contracts, 'http/*', 'keys'],
    'http/response': [...contracts, 'http/*', 'files', 'http/request'],
    'http/paging': [...contracts, 'keys', 'http/*'],
    'http/streams': [...contracts, 'http/*', 'log', 'views'],
    'http/connections': [...contracts, 'http/*', 'http/auth'],
    'http/idempotency': [...contracts, 'http/*', 'keys', 'http/response'],
    'http/schemas': [
      ...contracts,
      'agents',
      'files',
      'push',
      'rules',
      'vaults',
      'workspaces',
      'sessions/core',
      'http/*',
      'http/paging',
    ],
    'http/convert': [...contracts, 'http/*', 'environments', 'sessions', 'http/schemas'],
    'http/routing': [
      ...contracts,
      'http/*',
      'keys',
      'http/auth',
      'http/connections',
      'http/idempotency',
      'http/paging',
      'http/request',
      'http/response',
      'http/streams',
    ],
    'http/feeds': [...contracts, 'http/*', 'log', 'views', 'http/routing', 'http/schemas', 'http/streams'],
    'http/dashboard': [
      ...contracts,
      'http/*',
      'keys',
      'single-sign-on',
      'http/auth',
      'http/request',
      'http/response',
      'http/routing',
    ],
    'http/routes': [
      ...contracts,
      'log',
      ...records,
      'workspaces',
      'metrics',
      'nodes',
      'push',
      'views',
      'sessions',
      'http/*',
      'http/convert',
      'http/feeds',
      'http/paging',
      'http/request',
      'http/response',
      'http/routing',
      'http/schemas',
      'http/streams',
    ],
    'http/server': [
      ...contracts,
      'http/*',
      'http/auth',
      'http/connections',
      'http/dashboard',
      'http/idempotency',
      'http/paging',
      'http/request',
      'http/response',
      'http/routing',
      'http/streams',
    ],
    http: [...contracts, 'keys', 'http'],
    composition: [
      'base',
      'store',
      'log',
      'frames',
      'engines',
      'tools',
      ...records,
      'egress',
      'single-sign-on',
      'metrics',
      'nodes',
      'push',
      'views',
      'webhooks',
      'sessions',
      'http',
    ],
  },
  // Every folder that is not listed is a page: pages import neither each other nor the shell.
  web: {
    text: [],
    model: ['text'],
    'stores/connection': ['model'],
    stores: ['model', 'text', 'stores/connection'],
    'ui/lanes': ['model', 'stores'],
    'ui/text': ['model', 'text', 'stores'],
    ui: ['model', 'text', 'stores', 'ui/lanes', 'ui/text'],
    '*': belowPages,
    'session/transcript': belowPages,
    'session/changes': belowPages,
    'session/export': [...belowPages, 'session/transcript'],
    'session/inspector': [...belowPages, 'session/transcript', 'session/export'],
    'session/compare': [...belowPages, 'session/transcript'],
    'session/find': [...belowPages, 'session/transcript'],
    'session/fork': [...belowPages, 'session/transcript'],
    'session/replay': belowPages,
    session: [...belowPages, ...sessionParts.map((part) => `session/${part}`)],
    shell: [...belowPages, '*', 'session'],
  },
  cli: {
    base: [],
    terminal: ['base'],
    config: ['base'],
    completion: [],
    connection: ['base', 'terminal'],
    agents: ['base', 'terminal', 'connection'],
    export: ['base', 'connection'],
    import: ['base', 'terminal', 'connection'],
    'stream-json/input': ['base', 'terminal'],
    'stream-json/overview': ['base', 'terminal'],
    'stream-json/tree': ['base', 'terminal', 'stream-json/overview'],
    'stream-json/stats': ['base', 'terminal', 'stream-json/input', 'stream-json/overview'],
    'stream-json/inspect': ['base', 'terminal', 'stream-json/input', 'stream-json/overview', 'stream-json/tree'],
    'stream-json': ['base', 'terminal', 'stream-json/input', 'stream-json/tree'],
    fleet: ['base', 'terminal', 'connection', 'stream-json/tree'],
    sessions: ['base', 'terminal', 'connection', 'fleet'],
    vaults: ['base', 'terminal', 'connection'],
    'watch/state': ['base', 'terminal', 'connection', 'fleet'],
    'watch/data': ['base', 'terminal', 'connection', 'fleet', 'export', 'watch/state'],
    'watch/input': ['base', 'terminal', 'fleet', 'watch/state'],
    'watch/draw': ['base', 'terminal', 'fleet', 'watch/state', 'watch/input'],
    watch: ['base', 'terminal', 'connection', 'fleet', 'watch/state', 'watch/data', 'watch/input', 'watch/draw'],
    server: ['base', 'terminal', 'connection'],
    doctor: ['base', 'terminal', 'connection', 'server'],
    workspace: ['base', 'terminal', 'connection'],
    run: ['base', 'terminal', 'connection', 'agents', 'fleet', 'server', 'workspace'],
    changes: ['base', 'terminal', 'connection', 'run', 'workspace'],
    'demo-fleet': ['base', 'connection', 'agents', 'run'],
    start: ['base', 'terminal', 'connection', 'agents', 'server', 'run', 'demo-fleet'],
    'conformance/forms': ['base'],
    'conformance/harness': ['conformance/forms'],
    'conformance/checks': ['conformance/forms', 'conformance/harness'],
    conformance: ['base', 'terminal', 'connection', 'conformance/harness', 'conformance/checks', 'conformance/forms'],
    // Declarations load implementations when a command is called.
    commands: [
      'base',
      'completion',
      'server',
      'doctor',
      'agents',
      'sessions',
      'vaults',
      'changes',
      'export',
      'import',
      'stream-json',
      'watch',
      'run',
      'demo-fleet',
      'start',
      'conformance',
    ],
  },
};

/** Packages whose files never import each other in a circle. */
const withoutCycles = ['protocol', 'client', 'web', 'server', 'cli'];

/** Modules that only one folder may import. Each exception, a path prefix, has its reason. */
const guardedModules = [
  {
    what: 'HTTP',
    modules: ['@fastify/', 'node:http', 'node:https', 'node:http2'],
    place: 'packages/server/src/http/',
    exceptions: {
      'packages/server/src/engines/model/scripted/http':
        'the scripted model also answers the Messages API over HTTP, so that the real claude program can talk to it',
      'packages/server/src/engines/program/gateway':
        'the claude program is passed through to its endpoint, so that the text of its sub-agents can be read on the way',
      'packages/server/src/engines/program/opencode/server/client.ts':
        'fetch cannot be given a connection, and opencode in a sandbox is reached through its relay',
      'packages/server/src/engines/program/program-host.ts':
        'its types describe the handler that answers programs with the scripted model',
      'packages/server/src/base/outgoing-http.ts':
        'fetch cannot be given the address to connect to, and reads interim answers without end',
      'packages/server/src/egress':
        'programs in sandboxes reach other hosts through a proxy, which is a server and a client of HTTP',
      'packages/server/src/workspaces/relay':
        'git is passed through to its host, so that a token can be added which git itself must not have',
      'packages/server/src/tools/builtin/web-fetch':
        'fetch cannot be given the address to connect to, and an unchecked address may be private',
    },
  },
  {
    what: 'SQLite',
    modules: ['node:sqlite', '@photostructure/sqlite', 'better-sqlite3'],
    place: 'packages/server/src/store/',
    oneFile: true,
    exceptions: {},
  },
  {
    what: 'PostgreSQL',
    modules: ['pg', 'postgres'],
    place: 'packages/server/src/store/',
    oneFile: true,
    exceptions: {},
  },
];

/** Packages that a build includes in a package that may not import them, each with its reason. */
const buildArrows = {
  'packages/web/vite.config.ts': {
    to: 'cli',
    reason: 'the button of the empty dashboard begins the demo of the command',
  },
};

/** Other checked folders. Scripts run before packages are installed. */
const otherFolders = { test: {}, bench: {}, scripts: { beforeInstall: true } };

const problems = checkArrows(resolve(process.argv[2] ?? repositoryRoot));
for (const problem of problems) console.log(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkArrows(root) {
  const workspace = readWorkspace(root);
  const folders = ['packages', ...Object.keys(otherFolders)];
  const files = folders.flatMap((folder) => listFiles(root, folder)).filter(isSource);
  const imports = files.flatMap((file) => readImports(root, workspace, file));
  return [
    ...files.flatMap((file) => checkPlace(locate(file))),
    ...imports.flatMap((found) => checkImport(workspace, found).map((rule) => toProblem(found, rule))),
    ...guardedModules.filter(({ oneFile }) => oneFile).flatMap((guard) => checkOneFile(guard, imports)),
    ...checkCycles(imports),
  ];
}

/** The first rule that an import breaks. One is enough: fixing it usually fixes the others. */
function checkImport(workspace, { from, target, isStatic }) {
  const rules =
    from.package === undefined
      ? [checkBeforeInstall(from, target, isStatic), checkDeclared(workspace, from, target)]
      : [
          checkPackage(from, target),
          ...(from.isTest
            ? []
            : [checkInside(from, target, isStatic), checkBrowser(from, target), checkGuards(from, target)]),
          checkDeclared(workspace, from, target),
        ];
  return rules.filter((rule) => rule !== undefined).slice(0, 1);
}

// --- rules: each returns the problem and what to do, or undefined ---

function checkPlace(from) {
  if (from.package === undefined) return [];
  const where = 'in scripts/check-arrows.mjs, and say what it may import';
  if (packageArrows[from.package] === undefined) {
    return [`${from.file}:1 is in an unknown package: add ${from.package} to packageArrows ${where}`];
  }
  const areas = folderArrows[from.package];
  if (areas === undefined || from.directory === undefined || from.isTest || areaOf(from) !== undefined) return [];
  return [`${from.file}:1 is in an unknown folder: add ${from.directory} to folderArrows.${from.package} ${where}`];
}

function checkPackage(from, target) {
  if (target.type !== 'package' || target.package === from.package) return undefined;
  if (buildArrows[from.file]?.to === target.package) return undefined;
  const allowed = packageArrows[from.package]?.to ?? [];
  if (!allowed.includes(target.package)) {
    return `${from.package} imports ${listOrNothing(allowed)}. Move what both need down, or take it as a parameter.`;
  }
  if (!target.isByPath) return undefined;
  return 'a package knows another by its name only. Export it there and import it by name.';
}

function checkInside(from, target, isStatic) {
  // A registry loads its implementations on demand, so that importing the registry does not import them.
  if (!isStatic && from.file.endsWith('/registry.ts')) return undefined;
  if (target.type === 'outside') return 'a package is complete in itself. Move the file into the package.';
  const area = areaOf(from);
  if (area === undefined || target.package !== from.package || !target.isSource) return undefined;
  if (target.directory !== undefined && areaOf(target) === area) return undefined;
  const arrows = folderArrows[from.package][area] ?? folderArrows[from.package]['*'];
  const rule = `inside ${from.package}, ${area} imports ${listOrNothing(arrows)}.`;
  if (target.directory === undefined) return `${rule} Files beside the folders put the whole together; move this down.`;
  if (arrows.some((arrow) => isAllowed(arrow, target))) return undefined;
  const isImplementation = arrows.some(
    (arrow) => arrow.endsWith('/*') && isBelow(target.directory, arrow.slice(0, -2)),
  );
  if (!isImplementation) return `${rule} Turn the arrow round: let the other side call, or pass it in.`;
  return `${rule} This is an implementation; use the contract in the folder above and get the rest passed in.`;
}

/** The listed folder that a file belongs to: the longest one. */
function areaOf({ package: name, directory }) {
  if (directory === undefined) return undefined;
  const table = folderArrows[name] ?? {};
  const areas = Object.keys(table).filter((area) => isBelow(directory, area));
  const other = table['*'] === undefined ? undefined : directory.split('/')[0];
  return areas.sort((a, b) => b.length - a.length)[0] ?? other;
}

function isAllowed(arrow, target) {
  const { directory } = target;
  if (arrow === '*') return folderArrows[target.package][areaOf(target)] === undefined;
  return arrow.endsWith('/*') ? directory === arrow.slice(0, -2) : isBelow(directory, arrow);
}

function isBelow(directory, area) {
  return directory === area || directory.startsWith(`${area}/`);
}

function checkBrowser(from, target) {
  if (target.type !== 'node' || packageArrows[from.package]?.inBrowsers !== true) return undefined;
  return `${from.package} runs in browsers too, so nothing from Node. Take what you need as a parameter.`;
}

function checkGuards(from, target) {
  const guard = guardedModules.find(({ modules }) => isOneOf(modules, target));
  if (guard === undefined || from.file.startsWith(guard.place)) return undefined;
  if (Object.keys(guard.exceptions).some((prefix) => from.file.startsWith(prefix))) return undefined;
  return `only ${guard.place} knows ${guard.what}. Use what it offers, or add an exception with its reason.`;
}

/** Types count: two files that need each other's types can only be understood together. */
function checkCycles(imports) {
  const graph = new Map();
  for (const { from, target } of imports) {
    if (from.isTest || !withoutCycles.includes(from.package)) continue;
    if (target.type !== 'package' || !target.isByPath) continue;
    graph.set(from.file, [...(graph.get(from.file) ?? []), target.name]);
  }
  return findCycles(graph).map((files) => {
    const names = files.sort().join(', ');
    return `${files[0]}:1 imports itself through ${names}: move what they share into a file of its own`;
  });
}

function checkOneFile(guard, imports) {
  const users = imports.filter(({ from, target }) => !from.isTest && isOneOf(guard.modules, target));
  const [first] = users;
  const others = users.filter(({ from }) => from.file !== first.from.file && from.file.startsWith(guard.place));
  const rule = `one file knows ${guard.what}, and ${first?.from.file} already does. Go through it.`;
  return others.map((found) => toProblem(found, rule));
}

function checkBeforeInstall(from, target, isStatic) {
  if (otherFolders[from.directory].beforeInstall !== true || !isStatic) return undefined;
  if (target.type === 'node' || target.type === 'outside') return undefined;
  return 'scripts start before anything is installed. Use node: only, or import() it after setUp.';
}

function checkDeclared(workspace, from, target) {
  if (target.type !== 'external' && (target.type !== 'package' || target.isByPath)) return undefined;
  if (from.package === undefined && target.type === 'package') return undefined;
  const own = workspace.manifests[from.package] ?? {};
  const declared = [own.name, ...namesIn(own, ['dependencies', 'peerDependencies', 'optionalDependencies'])];
  // Tests use the tools of the whole workspace.
  if (from.isTest)
    declared.push(...[own, workspace.root].flatMap((each) => namesIn(each, ['dependencies', 'devDependencies'])));
  if (declared.includes(target.name)) return undefined;
  const manifest = from.package === undefined ? 'package.json' : `packages/${from.package}/package.json`;
  return `${target.name} is not declared in ${manifest}. Declare it, with the reason in the commit, or do without.`;
}

// --- helpers ---

function toProblem({ from, line, specifier }, rule) {
  return `${from.file}:${line} imports ${specifier}: ${rule}`;
}

/** `@fastify/` stands for all packages of that scope. */
function isOneOf(modules, target) {
  return modules.some((module) => target.name === module || (module.endsWith('/') && target.name.startsWith(module)));
}

function namesIn(manifest, kinds) {
  return kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
}

function listOrNothing(names) {
  return names.length === 0 ? 'nothing but itself' : `only ${names.join(', ')}`;
}
