import { z } from 'zod';
import { TRUSTED_DOCUMENTS_MAX_BYTES, trustedDocumentsSchema } from '@tollgate/contracts/trusted-documents';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { idParameter } from '../../http/input/id-parameter.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { service } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { operatorAccess, ownerAccess } from '../applications/access.ts';
import type { Access } from '../applications/access.ts';
import { registrationAnswerSchema, trustedDocumentListSchema } from './answers.ts';
import { enforceDocuments, listDocuments, registerDocuments, removeDocument } from './documents.ts';
import { enforcementSchema, registrationSchema, versionSchema } from './input.ts';
import { findTrustedDocuments } from './store.ts';

type Needs = { query: Query; transact: Transact };

/** Texts can take more as JSON. */
const MAX_BODY_BYTES = 2 * TRUSTED_DOCUMENTS_MAX_BYTES;

const DESCRIPTION =
  'The GraphQL documents that an application may run, if it is limited to them. Gateways refuse others as ' +
  '`document_not_trusted`.';

const ofApplication = z.object({ application_id: idParameter });

const LISTED = { description: 'The documents, without their texts.', schema: trustedDocumentListSchema };

export const ownerDocuments = {
  title: 'Trusted documents',
  description: DESCRIPTION,
  operations: operationsOn(ownerAccess),
} satisfies Chapter;

export const operatorDocuments = {
  title: 'Trusted documents',
  description: DESCRIPTION,
  operations: operationsOn(operatorAccess),
} satisfies Chapter;

export const serviceDocuments = {
  title: 'Trusted documents',
  description: 'For gateways: the documents that an application is limited to.',
  operations: [
    operation('GET /private/trusted-documents/{application_id}', {
      operationId: 'getTrustedDocuments',
      summary: "Get an application's trusted documents",
      caller: service,
      params: ofApplication,
      answers: { 200: { description: 'The documents.', schema: trustedDocumentsSchema } },
      handle: ({ query }: Needs, { params: { application_id } }) =>
        findTrustedDocuments(query, application_id),
    }),
  ],
} satisfies Chapter;

function operationsOn<By extends { actor: Actor }>({ caller, path: root, ownerOf }: Access<By>) {
  const path = `${root}/applications/{application_id}/trusted-documents` as const;
  return [
    operation(`GET ${path}`, {
      operationId: 'listTrustedDocuments',
      summary: "List an application's trusted documents",
      caller,
      roles: ['viewer'],
      params: ofApplication,
      answers: { 200: LISTED },
      handle: ({ query }: Needs, { by, params: { application_id } }) =>
        listDocuments(query, { application_id, owner_id: ownerOf(by) }),
    }),
    operation(`POST ${path}`, {
      operationId: 'registerTrustedDocuments',
      summary: 'Register documents for an application',
      description:
        'Adds those that are new, and reports them. None is removed. An id that another document has moves to the one ' +
        'that is sent with it.',
      caller,
      roles: ['admin'],
      params: ofApplication,
      body: registrationSchema,
      maxBodyBytes: MAX_BODY_BYTES,
      example: { documents: [{ document_id: 'countries', text: 'query Countries { countries { name } }' }] },
      answers: { 200: { description: 'What was new.', schema: registrationAnswerSchema } },
      handle: ({ transact }: Needs, { by, params: { application_id }, body }) =>
        transact((inside) =>
          registerDocuments(inside, { application_id, owner_id: ownerOf(by) }, body, by.actor),
        ),
    }),
    operation(`PUT ${path}`, {
      operationId: 'enforceTrustedDocuments',
      summary: 'Limit an application to its trusted documents, or end the limit',
      description: 'Without documents, a limited application can run nothing.',
      caller,
      roles: ['admin'],
      params: ofApplication,
      body: enforcementSchema,
      example: { enforced: true },
      answers: { 200: LISTED },
      handle: async ({ query, transact }: Needs, { by, params: { application_id }, body }) => {
        const key = { application_id, owner_id: ownerOf(by) };
        await transact((inside) => enforceDocuments(inside, key, body.enforced, by.actor));
        return listDocuments(query, key);
      },
    }),
    operation(`DELETE ${path}/{sha256}`, {
      operationId: 'removeTrustedDocument',
      summary: 'Remove a document of an application',
      caller,
      roles: ['admin'],
      params: ofApplication.extend({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
      query: versionSchema,
      answers: { 204: { description: 'Removed.' } },
      handle: async ({ transact }: Needs, { by, params: { application_id, sha256 }, query }) => {
        const key = { application_id, owner_id: ownerOf(by) };
        await transact((inside) => removeDocument(inside, key, { ...query, sha256 }, by.actor));
      },
    }),
  ];
}
