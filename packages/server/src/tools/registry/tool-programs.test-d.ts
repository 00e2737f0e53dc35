import { checkToolPrograms, type ToolPrograms } from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

expectTypeOf(checkToolPrograms).toEqualTypeOf<() => Promise<ToolPrograms>>();
expectTypeOf<ToolPrograms['sandboxProblem']>().toEqualTypeOf<string | null>();
expectTypeOf<ToolPrograms['packageManagers']>().toEqualTypeOf<readonly string[]>();
expectTypeOf<ToolPrograms['hasRipgrep']>().toEqualTypeOf<boolean>();
expectTypeOf<ToolPrograms['sandboxGaps']>().toEqualTypeOf<readonly { readonly text: string; readonly fix: string }[]>();
