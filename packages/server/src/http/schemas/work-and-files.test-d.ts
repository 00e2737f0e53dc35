import type {
  DeletedFile,
  DeletedSessionResource,
  FileMetadata,
  FilePage,
  FileResource,
  FileResourceParams,
  ModelInfo,
  Work,
  WorkHeartbeat,
  WorkQueueStats,
  WorkUpdateParams,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';
import type { z } from 'zod';
import type { deletedFile, deletedResource, fileMetadata, filePage, fileResource, fileResourceParams } from './file.ts';
import type { modelInfo } from './model-info.ts';
import type { work, workHeartbeat, workQueueStats, workUpdateBody } from './work.ts';

// What goes out and comes in is what the wire contract says. Only `readonly` differs, which schemas do not say.

type Mutable<Value> = Value extends object ? { -readonly [Key in keyof Value]: Mutable<Value[Key]> } : Value;

expectTypeOf<z.output<typeof work>>().toEqualTypeOf<Mutable<Work>>();
expectTypeOf<z.output<typeof workHeartbeat>>().toEqualTypeOf<Mutable<WorkHeartbeat>>();
expectTypeOf<z.output<typeof workQueueStats>>().toEqualTypeOf<Mutable<WorkQueueStats>>();
expectTypeOf<z.output<typeof workUpdateBody>>().toEqualTypeOf<Mutable<WorkUpdateParams>>();
expectTypeOf<z.output<typeof fileMetadata>>().toEqualTypeOf<Mutable<FileMetadata>>();
expectTypeOf<z.output<typeof filePage>>().toExtend<FilePage>();
expectTypeOf<keyof z.output<typeof filePage>>().toEqualTypeOf<keyof FilePage>();
expectTypeOf<z.output<typeof deletedFile>>().toEqualTypeOf<Mutable<DeletedFile>>();
expectTypeOf<z.output<typeof fileResource>>().toEqualTypeOf<Mutable<FileResource>>();
expectTypeOf<z.output<typeof fileResourceParams>>().toEqualTypeOf<Mutable<FileResourceParams>>();
expectTypeOf<z.output<typeof deletedResource>>().toEqualTypeOf<Mutable<DeletedSessionResource>>();
expectTypeOf<z.output<typeof modelInfo>>().toEqualTypeOf<Mutable<ModelInfo>>();
