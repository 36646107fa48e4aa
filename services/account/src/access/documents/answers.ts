import { z } from 'zod';
import { id, instant } from '../../http/answer-fields.ts';

const documentSchema = z.object({
  api_version: z.enum(['v1', 'v2']),
  sha256: z.string().meta({ description: 'Of the exact text, in hex.' }),
  document_id: z.string().nullable().meta({ description: 'By which callers may name it.' }),
  name: z.string().nullable().meta({ description: 'Of its first operation.' }),
});

export const trustedDocumentListSchema = z
  .object({
    application_id: id,
    enforced: z.boolean().meta({ description: 'Whether the application only runs these documents.' }),
    documents: z
      .array(documentSchema.extend({ length: z.int().min(1), registered_at: instant }))
      .meta({ description: 'By version, the oldest first.' }),
  })
  .meta({ id: 'TrustedDocumentList' });

export const registrationAnswerSchema = z
  .object({
    application_id: id,
    dry_run: z.boolean(),
    new_documents: z.array(documentSchema).meta({ description: 'Those that were not registered before.' }),
    known_documents: z.int().min(0).meta({ description: 'How many of the sent documents were.' }),
    changed_ids: z
      .array(
        documentSchema.omit({ name: true }).extend({
          document_id: documentSchema.shape.document_id.meta({
            description: 'Null if its id moves to another document.',
          }),
          former_document_id: z.string().nullable(),
        }),
      )
      .meta({ description: 'Registered documents that get another id, or lose theirs.' }),
  })
  .meta({ id: 'DocumentRegistration' });
