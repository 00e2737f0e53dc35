import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { pageQuery } from '../paging.ts';
import { moment } from './common.ts';

const fileId = z.string().min(1).max(limits.pathIdCharsMax);

export const fileMetadata = z
  .strictObject({
    type: z.literal('file'),
    id: z.string(),
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.int(),
    downloadable: z.boolean(),
    created_at: moment,
    expires_at: moment.nullable(),
    scope: z.strictObject({ type: z.literal('session'), id: z.string() }).nullable(),
  })
  .meta({ id: 'File' });

/** Both kinds of pages at once. */
export const filePage = z.strictObject({
  data: z.array(fileMetadata),
  next_page: z.string().nullable(),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

export const fileListQuery = z.strictObject({
  ...pageQuery({ max: limits.pageItemsMax, normally: limits.recordPageItemsDefault }),
  after_id: fileId.exactOptional(),
  before_id: fileId.exactOptional(),
  ids: z.array(fileId).exactOptional(),
  scope_id: z.string().exactOptional(),
});

export const deletedFile = z
  .strictObject({ type: z.literal('file_deleted'), id: z.string() })
  .meta({ id: 'DeletedFile' });

export const fileResource = z
  .strictObject({
    type: z.literal('file'),
    id: z.string(),
    file_id: z.string(),
    mount_path: z.string(),
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'FileResource' });

export const fileResourceParams = z.strictObject({
  type: z.literal('file'),
  file_id: fileId,
  mount_path: z.string().min(1).max(limits.mountPathCharsMax).nullable().exactOptional(),
});

export const resourceListQuery = z.strictObject(pageQuery({ max: limits.pageItemsMax, normally: limits.pageItemsMax }));

export const deletedResource = z
  .strictObject({ type: z.literal('session_resource_deleted'), id: z.string() })
  .meta({ id: 'DeletedSessionResource' });
