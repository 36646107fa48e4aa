import { z } from 'zod';
import type { ApiChapter } from '../../http/operation.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import {
  applicationListAnswerSchema,
  changedApplicationSchema,
  newApplicationAnswerSchema,
  readApplicationSchema,
  rotatedSecretSchema,
} from './answers.ts';
import { applicationListSchema, changesSchema, ownApplicationSchema, rotationSchema } from './input.ts';

const params = z.object({ application_id: idParameter });

export const applicationApi: ApiChapter = {
  title: 'Applications',
  description: 'The applications of the account. Those of other accounts are `not_found`.',
  operations: {
    'GET /api/console/applications': {
      operationId: 'listApplications',
      summary: 'List applications, newest first',
      caller: 'session',
      query: applicationListSchema,
      answers: { 200: { description: 'One page.', schema: applicationListAnswerSchema } },
    },
    'POST /api/console/applications': {
      operationId: 'createApplication',
      summary: 'Create an application',
      caller: 'session',
      body: ownApplicationSchema,
      example: { name: 'Nightly report', type: 'automatic', token_lifespan_sec: 86_400 },
      answers: {
        201: {
          description: 'The application with its client secret.',
          schema: newApplicationAnswerSchema,
          headers: { Location: 'Path of the application.' },
        },
      },
      problems: ['account_blocked', 'application_limit_reached'],
    },
    'GET /api/console/applications/{application_id}': {
      operationId: 'getApplication',
      summary: 'Get an application',
      caller: 'session',
      params,
      answers: { 200: { description: 'The application.', schema: readApplicationSchema } },
    },
    'PATCH /api/console/applications/{application_id}': {
      operationId: 'changeApplication',
      summary: 'Change the name or the token lifespan of an application',
      description: 'A new lifespan applies to new tokens only.',
      caller: 'session',
      params,
      body: changesSchema,
      example: { name: 'Weekly report' },
      answers: { 200: { description: 'The application.', schema: changedApplicationSchema } },
    },
    'DELETE /api/console/applications/{application_id}': {
      operationId: 'deleteApplication',
      summary: 'Delete an application',
      description: 'Its tokens and client credentials stop working. Deletion is final.',
      caller: 'session',
      params,
      answers: { 204: { description: 'Deleted.' } },
    },
    'POST /api/console/applications/{application_id}/revoke': {
      operationId: 'revokeApplication',
      summary: 'Revoke an application',
      description:
        'Its tokens and client credentials stop working. It stays listed. Rotating its secret reactivates it; its old ' +
        'tokens stay revoked.',
      caller: 'session',
      params,
      answers: { 200: { description: 'The application.', schema: changedApplicationSchema } },
    },
    'POST /api/console/applications/{application_id}/rotate-secret': {
      operationId: 'rotateApplicationSecret',
      summary: 'Rotate the client secret',
      description:
        'The previous secret works for another `overlap_sec` seconds; until then, another rotation returns ' +
        '`previous_secret_active`, unless it is ended. A revoked application becomes active again.',
      caller: 'session',
      params,
      body: rotationSchema,
      example: { overlap_sec: 3_600 },
      answers: { 200: { description: 'The application with its new secret.', schema: rotatedSecretSchema } },
      problems: ['account_blocked', 'previous_secret_active'],
    },
    'DELETE /api/console/applications/{application_id}/previous-secret': {
      operationId: 'endPreviousApplicationSecret',
      summary: 'End the previous client secret',
      description: 'Ends the overlap of a rotation. Succeeds also if there is no previous secret.',
      caller: 'session',
      params,
      answers: { 200: { description: 'The application.', schema: changedApplicationSchema } },
    },
  },
};
