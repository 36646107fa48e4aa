import { z } from 'zod';

/** Of an application's documents, in all versions of the API: gateways keep them in memory. */
export const TRUSTED_DOCUMENTS_MAX = 1_000;
export const TRUSTED_DOCUMENTS_MAX_BYTES = 1_048_576;
export const TRUSTED_DOCUMENT_MAX_LENGTH = 65_536;

/** Response of `GET /private/trusted-documents/{application_id}`. */
export const trustedDocumentsSchema = z.object({
  /** As in the entitlement, or a newer one. */
  revision: z.int().min(0),
  documents: z.array(
    z.object({
      api_version: z.enum(['v1', 'v2']),
      sha256: z.string(),
      document_id: z.string().nullable(),
      text: z.string(),
    }),
  ),
});

export type TrustedDocuments = z.infer<typeof trustedDocumentsSchema>;
