import { resolve } from 'node:path';
import { locate, readImports, readWorkspace } from './support/locate-imports.mjs';
import { repositoryRoot } from './support/root.mjs';
import { isSource, listFiles } from './support/source-files.mjs';

// Imports go one way; ARCHITECTURE.md draws the picture, these tables are the law. Usage: check-arrows.mjs [root]

/** Which package may import which. What runs in browsers imports nothing from Node. */
const packageArrows = {
  protocol: { to: [], inBrowsers: true },
  client: { to: ['protocol'], inBrowsers: true },
  web: { to: ['protocol', 'client'], inBrowsers: true },
  server: { to: ['protocol'], inBrowsers: false },
  cli: { to: ['protocol', 'client', 'server'], inBrowsers: false },
};

/**
 * Which folder of a package may import which others. `store/*` stands for the files directly in store: its contract,
 * not one of its implementations, which live in folders below. Files beside the folders (index.ts, server.ts) put the
 * whole together: they may import everything, and no folder imports them. A package that is not listed has no rules.
 */
const folderArrows = {
  protocol: {
    sse: [],
    text: [],
    'stream-json': [],
    fleet: ['sse'],
    'managed-agents': ['sse'],
  },
  server: {
    base: [],
    store: ['base'],
    engines: ['base'],
    tools: ['base'],
    frames: ['base', 'store/*'],
    agents: ['base', 'store/*'],
    environments: ['base', 'store/*'],
    sessions: ['base', 'frames', 'store/*', 'engines/*', 'tools/*', 'agents', 'environments'],
    nodes: ['base', 'store/*', 'sessions'],
    views: ['base', 'frames', 'store/*'],
    webhooks: ['base', 'frames', 'store/*', 'views'],
    http: ['base', 'frames', 'store/*', 'engines/*', 'tools/*', 'agents', 'environments', 'sessions', 'views'],
  },
};

/** What only one place may know. Each exception, a path prefix, has its reason. */
const guardedModules = [
  {
    what: 'HTTP',
    modules: ['hono', '@hono/', 'node:http', 'node:https', 'node:http2'],
    place: 'packages/server/src/http/',
    exceptions: {
      'packages/server/src/engines/scripted/http':
        'the scripted model also answers the Messages API over HTTP, so that the real claude program can talk to it',
      'packages/server/src/engines/claude-code/gateway':
        'the claude program is passed through to its endpoint, so that the text of its sub-agents can be read on the way',
      'packages/server/src/base/outgoing-http.ts':
        'fetch cannot be given the address to connect to, and reads interim answers without end',
      'packages/server/src/tools/web-fetch':
        'fetch cannot be told which address to connect to, and one that was not checked may be private',
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

/** What goes into a package when it is built, though it may not import it: each with its reason. */
const buildArrows = {
  'packages/web/vite.config.ts': {
    to: 'cli',
    reason: 'the button of the empty dashboard begins the demo of the command',
  },
};

/** Checked beside the packages. Scripts run before anything is installed. */
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
  ];
}

/** The first rule that an import breaks. One is enough: mending it usually mends the others. */
function checkImport(workspace, { from, target, isStatic }) {
  const rules =
    from.package === undefined
      ? [checkBeforeInstall(from, target, isStatic), checkDeclared(workspace, from, target)]
      : [
          checkPackage(from, target),
          ...(from.isTest ? [] : [checkInside(from, target), checkBrowser(from, target), checkGuards(from, target)]),
          checkDeclared(workspace, from, target),
        ];
  return rules.filter((rule) => rule !== undefined).slice(0, 1);
}

// --- rules: each gives a sentence about what is wrong and one about what to do, or nothing ---

function checkPlace(from) {
  if (from.package === undefined) return [];
  const where = 'in scripts/check-arrows.mjs, and say what it may import';
  if (packageArrows[from.package] === undefined) {
    return [`${from.file}:1 is in an unknown package: add ${from.package} to packageArrows ${where}`];
  }
  const folders = folderArrows[from.package] ?? {};
  const isKnown = from.folder === undefined || Object.keys(folders).length === 0 || folders[from.folder] !== undefined;
  if (isKnown || from.isTest) return [];
  return [`${from.file}:1 is in an unknown folder: add ${from.folder} to folderArrows.${from.package} ${where}`];
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

function checkInside(from, target) {
  if (target.type === 'outside') return 'a package is complete in itself. Move the file into the package.';
  const arrows = folderArrows[from.package]?.[from.folder];
  if (arrows === undefined || target.package !== from.package || target.folder === from.folder) return undefined;
  const rule = `inside ${from.package}, ${from.folder} imports ${listOrNothing(arrows)}.`;
  if (!target.isSource || arrows.includes(target.folder)) return undefined;
  if (target.folder === undefined) return `${rule} Files beside the folders put the whole together; move this down.`;
  const isContractAllowed = arrows.includes(`${target.folder}/*`);
  if (!isContractAllowed) return `${rule} Turn the arrow round: let the other side call, or pass it in.`;
  if (target.isDirect) return undefined;
  return `${rule} This is an implementation; use the contract in ${target.folder}/ and get the rest passed in.`;
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

function checkOneFile(guard, imports) {
  const users = imports.filter(({ from, target }) => !from.isTest && isOneOf(guard.modules, target));
  const [first] = users;
  const others = users.filter(({ from }) => from.file !== first.from.file && from.file.startsWith(guard.place));
  const rule = `one file knows ${guard.what}, and ${first?.from.file} already does. Go through it.`;
  return others.map((found) => toProblem(found, rule));
}

function checkBeforeInstall(from, target, isStatic) {
  if (otherFolders[from.folder].beforeInstall !== true || !isStatic) return undefined;
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

/** `@hono/` stands for all packages of that scope. */
function isOneOf(modules, target) {
  return modules.some((module) => target.name === module || (module.endsWith('/') && target.name.startsWith(module)));
}

function namesIn(manifest, kinds) {
  return kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
}

function listOrNothing(names) {
  return names.length === 0 ? 'nothing but itself' : `only ${names.join(', ')}`;
}
