import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bundleProgram, programPath } from './support/bundle-program.mjs';
import { runNpm } from './support/npm.mjs';
import { readJson, repositoryRoot, toolPath } from './support/root.mjs';
import { run } from './support/run.mjs';
import { giveUp, tail, withProgress } from './support/say.mjs';
import { listFiles } from './support/source-files.mjs';

/**
 * Prepares a clone: checks the version of Node, installs packages and, with `build`, compiles them. Every command calls it
 * first. Steps that are up to date are skipped silently.
 */
export async function setUp({ build, root = repositoryRoot }) {
  requireNode(root);
  if (!isInstalled(root)) await install(root);
  if (!build) return;
  const sources = hashSources(root);
  const last = readBuildStamp(root);
  const isComplete = last.outputs !== undefined && last.outputs.every((path) => existsSync(join(root, path)));
  if (last.sources !== sources || !isComplete) await compile(root, sources, { force: !isComplete });
  linkCommand(root);
}

function requireNode(root) {
  const wanted = readJson(join(root, 'package.json')).engines.node.replace('>=', '');
  const [wantedMajor, wantedMinor] = wanted.split('.').map(Number);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  giveUp(
    `Fleetloom needs Node ${wanted} or newer; this is Node ${process.versions.node} (${process.execPath}).\n` +
      'Install a current Node (nodejs.org, nvm, fnm, mise, your package manager) and run the same command again.',
  );
}

// --- packages ---

function isInstalled(root) {
  const stamp = installStamp(root);
  if (readText(installStampPath(root)) === stamp) return true;
  if (!isInstalledByHand(root)) return false;
  writeFileSync(installStampPath(root), stamp);
  return true;
}

/** Whether the packages were installed with `npm ci` or `npm install`, by npm's own record. */
function isInstalledByHand(root) {
  const record = readText(join(root, 'node_modules', '.package-lock.json'));
  const stamp = readText(installStampPath(root));
  // Packages installed for another Node may not run on this one, and npm's record does not contain its version.
  if (record === '' || (stamp !== '' && !stamp.endsWith(nodeTag))) return false;
  const installed = JSON.parse(record).packages;
  const wanted = Object.entries(readJson(join(root, 'package-lock.json')).packages);
  return wanted.every(([path, { version, optional }]) => {
    // Optional ones are mostly binaries for other machines. The root itself, '', is not in npm's record.
    return path === '' || (installed[path] === undefined ? optional === true : installed[path].version === version);
  });
}

async function install(root) {
  // Removed first, so that an interrupted installation is not taken for a complete one.
  rmSync(installStampPath(root), { force: true });
  let output = '';
  const isOk = await withProgress('installing packages', async () => {
    // include=dev: the tools are needed even where NODE_ENV=production is set.
    const args = ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--include=dev'];
    const result = await runNpm(args, root);
    output = result.output;
    return result.code === 0;
  });
  if (!isOk) giveUp(`${reasonFromNpm(output)}\n\n${adviceForNpm(output)}`);
  writeFileSync(installStampPath(root), installStamp(root));
}

/** npm puts the reason last, except when it then goes on to explain its own usage. */
function reasonFromNpm(output) {
  const [reason, usage] = output.split(/^.*Clean install a project$/m);
  return usage === undefined ? tail(output) : reason.trimEnd();
}

function adviceForNpm(output) {
  if (/EUSAGE/.test(output)) {
    return (
      'package.json and package-lock.json disagree. Run `npm install --min-release-age=30` and keep the new ' +
      'package-lock.json. (Younger releases may lack the binaries of other platforms, which breaks `npm ci`.)'
    );
  }
  if (/ENOSPC/.test(output)) return 'The disk is full. Make room for about 300 MB and run the same command again.';
  if (/ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|E40[13]|E5\d\d|network/.test(output)) {
    return 'npm could not reach its registry. Check the network and `npm config get registry`, then try again.';
  }
  return 'The packages could not be installed; the reason is in the output of npm above. Run `npm ci` to see all of it.';
}

const nodeTag = ` node${process.versions.node.split('.')[0]}\n`;

function installStamp(root) {
  return `${sha256(readText(join(root, 'package-lock.json')))}${nodeTag}`;
}

function installStampPath(root) {
  return join(root, 'node_modules', '.fleetloom-stamp');
}

// --- compiled packages ---

async function compile(root, sources, { force }) {
  // tsc writes files even with errors. Reverting the errors must not make an old stamp valid again.
  rmSync(buildStampPath(root), { force: true });
  let output = '';
  const isOk = await withProgress('compiling', async () => {
    // force: tsc trusts its build info and would not write deleted output again.
    const args = ['-b', ...(force ? ['--force'] : []), ...packageFolders(root)];
    const result = await run(process.execPath, [toolPath('typescript', 'tsc', root), ...args], { cwd: root });
    output = result.output;
    return result.code === 0;
  });
  if (!isOk) giveUp(`${output.trimEnd()}\n\nThe packages do not compile. Fix the errors above and try again.`);
  await buildPages(root);
  await bundleCommand(root);
  writeBuildStamp(root, sources);
}

/** The dashboard, into the server's package, which serves it. */
async function buildPages(root) {
  const folder = join(root, 'packages', 'web');
  if (!existsSync(join(folder, 'vite.config.ts'))) return;
  let output = '';
  const isOk = await withProgress('building the dashboard', async () => {
    const args = ['build', folder, '--config', join(folder, 'vite.config.ts'), '--logLevel', 'warn'];
    const result = await run(process.execPath, [toolPath('vite', 'vite', root), ...args], { cwd: root });
    output = result.output;
    return result.code === 0;
  });
  if (!isOk) giveUp(`${output.trimEnd()}\n\nThe dashboard cannot be built. Fix the errors above and try again.`);
}

/** The packages in build order, from tsconfig.json; its other references are only type-checked. */
function packageFolders(root) {
  const references = readJson(join(root, 'tsconfig.json')).references.map(({ path }) => path);
  return references.filter((path) => path.startsWith('packages/'));
}

/** The command in a few files: loading its modules one by one takes more than half of a start. */
async function bundleCommand(root) {
  // Other roots are those of tests, which have no bundler.
  if (root !== repositoryRoot) return;
  await withProgress('bundling the command', async () => {
    await bundleProgram();
    return true;
  });
}

/** Makes `npx fleetloom` work in a clone: npm links the compiled command, if there is one when it installs. */
function linkCommand(root) {
  const compiled = join(root, 'packages', 'cli', 'dist', 'main.js');
  if (!existsSync(compiled) || process.platform === 'win32') return;
  chmodSync(compiled, 0o755);
  const command = existsSync(programPath(root)) ? programPath(root) : compiled;
  chmodSync(command, 0o755);
  const folder = join(root, 'node_modules', '.bin');
  const link = join(folder, 'fleetloom');
  const target = relative(folder, command);
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(link) === target) return;
  rmSync(link, { force: true });
  symlinkSync(target, link);
}

/** By content, not by time: a checkout touches files without changing them, and a copy changes none of their times. */
function hashSources(root) {
  const hash = createHash('sha256').update(readText(join(root, 'package-lock.json')));
  const isInput = (path) =>
    /^packages\/[^/]+\/(?:src\/|public\/|demo\/|package\.json$|tsconfig[^/]*\.json$|[^/]+\.ts$|[^/]+\.html$)/.test(
      path,
    );
  const files = packageFolders(root).flatMap((folder) => listFiles(root, folder).filter(isInput));
  for (const path of ['tsconfig.json', 'tsconfig.base.json', ...files]) {
    hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
}

function readBuildStamp(root) {
  const text = readText(buildStampPath(root));
  return text === '' ? {} : JSON.parse(text);
}

/** Also records the output files, so that a deleted dist is noticed. */
function writeBuildStamp(root, sources) {
  const compiled = packageFolders(root).flatMap((folder) => listFiles(root, `${folder}/dist`));
  const program = programPath(root);
  const outputs = existsSync(program) ? [...compiled, relative(root, program)] : compiled;
  mkdirSync(dirname(buildStampPath(root)), { recursive: true });
  writeFileSync(buildStampPath(root), JSON.stringify({ sources, outputs }));
}

function buildStampPath(root) {
  return join(root, '.cache', 'build-stamp.json');
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}
