import {
  type AcpAgent,
  acpCapabilities,
  capabilityWords,
  claudeCodeCapabilities,
  codexCapabilities,
  type CodexProblem,
  type CodexProgram,
  findAgent,
  findCodex,
  type FindCodexOptions,
  findOpencode,
  type FindProgramOptions,
  type FoundCodex,
  type FoundOpencode,
  type InstallProblem,
  listLacks,
  listPrograms,
  opencodeCapabilities,
  type ProgramCapabilities,
  type ProgramEntry,
} from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

expectTypeOf(codexCapabilities).toEqualTypeOf<ProgramCapabilities>();
expectTypeOf(opencodeCapabilities).toEqualTypeOf<ProgramCapabilities>();
expectTypeOf(claudeCodeCapabilities).toExtend<ProgramCapabilities>();
expectTypeOf<keyof typeof capabilityWords>().toEqualTypeOf<keyof ProgramCapabilities>();
expectTypeOf(listLacks).toEqualTypeOf<(capabilities: ProgramCapabilities) => readonly string[]>();
// @ts-expect-error: a program states all of its capabilities
listLacks({ fork: true });

expectTypeOf(findCodex).toEqualTypeOf<(options?: FindCodexOptions) => Promise<FoundCodex>>();
expectTypeOf<Extract<FoundCodex, { type: 'found' }>['program']>().toEqualTypeOf<CodexProgram>();
expectTypeOf<Extract<FoundCodex, { type: 'problem' }>['problem']>().toEqualTypeOf<CodexProblem>();

expectTypeOf(listPrograms).toEqualTypeOf<() => readonly ProgramEntry[]>();
expectTypeOf<ProgramEntry['name']>().toEqualTypeOf<string>();

expectTypeOf(acpCapabilities).toEqualTypeOf<ProgramCapabilities>();
expectTypeOf(findAgent).returns.resolves.toHaveProperty('type');
expectTypeOf<AcpAgent['version']>().toEqualTypeOf<null>();
expectTypeOf(findOpencode).toEqualTypeOf<(options?: FindProgramOptions) => Promise<FoundOpencode>>();
expectTypeOf<Extract<FoundOpencode, { type: 'problem' }>['problem']>().toEqualTypeOf<InstallProblem<'not_opencode'>>();
