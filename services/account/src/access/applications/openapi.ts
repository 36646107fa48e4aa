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
  description: "One's applications. Another account's application is `not_found`, as one that never was.",
  operations: {
    'GET /api/console/applications': {
      operationId: 'listApplications',
      summary: "One's applications, newest first",
      caller: 'session',
      query: applicationListSchema,
      answers: { 200: { description: 'One page.', schema: applicationListAnswerSchema } },
    },
    'POST /api/console/applications': {
      operationId: 'createApplication',
      summary: 'Makes an application',
      caller: 'session',
      body: ownApplicationSchema,
      example: { name: 'Nightly report', type: 'automatic', token_lifespan_sec: 86_400 },
      answers: {
        201: {
          description: 'The application, with its client secret.',
          schema: newApplicationAnswerSchema,
          headers: { Location: 'Its path.' },
        },
      },
      problems: ['account_blocked', 'application_limit_reached'],
    },
    'GET /api/console/applications/{application_id}': {
      operationId: 'getApplication',
      summary: 'Reads an application',
      caller: 'session',
      params,
      answers: { 200: { description: 'The application.', schema: readApplicationSchema } },
    },
    'PATCH /api/console/applications/{application_id}': {
      operationId: 'changeApplication',
      summary: "Changes an application's name, or its tokens' lifespan",
      description: 'A lifespan is that of the tokens to come; those that there are keep theirs.',
      caller: 'session',
      params,
      body: changesSchema,
      example: { name: 'Weekly report' },
      answers: { 200: { description: 'The application.', schema: changedApplicationSchema } },
    },
    'DELETE /api/console/applications/{application_id}': {
      operationId: 'deleteApplication',
      summary: 'Deletes an application for good',
      description: 'Its tokens and its client credentials stop working.',
      caller: 'session',
      params,
      answers: { 204: { description: 'It is gone.' } },
    },
    'POST /api/console/applications/{application_id}/revoke': {
      operationId: 'revokeApplication',
      summary: 'Revokes an application',
      description:
        'Its tokens and its client credentials stop working. It stays listed, and rotating its secret brings it ' +
        'back, without its old tokens.',
      caller: 'session',
      params,
      answers: { 200: { description: 'The application.', schema: changedApplicationSchema } },
    },
    'POST /api/console/applications/{application_id}/rotate-secret': {
      operationId: 'rotateApplicationSecret',
      summary: 'Gives an application a new client secret',
      description:
        'The secret before goes on for `overlap_sec` seconds. A revoked application is active again.',
      caller: 'session',
      params,
      body: rotationSchema,
      example: { overlap_sec: 3_600 },
      answers: { 200: { description: 'The application, with its new secret.', schema: rotatedSecretSchema } },
      problems: ['account_blocked'],
    },
  },
};
