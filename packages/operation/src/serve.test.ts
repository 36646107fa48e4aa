import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { ErrorRequestHandler } from 'express';
import { z } from 'zod';
import { problemHandler, problemOf } from '@tollgate/http/error-handler';
import { parseForm } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';
import { createLogger } from '@tollgate/log';
import { Reply, anyone, formOperation, operation } from './operation.ts';
import type { Caller, ReadForm } from './operation.ts';
import { serve } from './serve.ts';

const member: Caller<{ name: string }> = { name: 'session', of: (req) => ({ name: req.get('name') ?? '' }) };

const idParameter = z
  .string()
  .regex(/^[1-9]\d*$/)
  .transform(Number);

const thing = z.object({ thing_id: z.int(), by: z.string() });

type Needs = { leaked: object };

const THINGS = {
  title: 'Things',
  description: 'For this suite.',
  operations: [
    operation('GET /things/{thing_id}', {
      operationId: 'getThing',
      summary: 'Get a thing',
      caller: member,
      params: z.object({ thing_id: idParameter }),
      answers: { 200: { description: 'The thing.', schema: thing } },
      handle: ({ leaked }: Needs, { by, params: { thing_id } }) => ({ thing_id, by: by.name, ...leaked }),
    }),
    operation('PUT /things/{thing_id}', {
      operationId: 'putThing',
      summary: 'Put a thing',
      caller: member,
      guard: (_needs: unknown, { name }) => {
        if (name === 'blocked') throw new Problem('account_blocked');
      },
      params: z.object({ thing_id: idParameter }),
      headers: z.object({
        'If-Match': z
          .string()
          .regex(/^[a-z]+$/, 'must be letters')
          .default('any'),
      }),
      body: z.strictObject({ by: z.string() }),
      answers: {
        200: { description: 'It was there.', schema: thing },
        201: { description: 'It is new.', schema: thing },
      },
      handle: (_needs: unknown, { params: { thing_id }, headers, body: { by } }) =>
        new Reply(201, { thing_id, by }, { location: `/things/${headers['If-Match']}/${String(thing_id)}` }),
    }),
    operation('DELETE /nothing', {
      operationId: 'deleteNothing',
      summary: 'Delete nothing',
      caller: anyone,
      answers: { 204: { description: 'Deleted.' } },
      handle: () => undefined,
    }),
  ],
};

const FORMS = {
  title: 'Forms',
  description: 'With errors of their own.',
  operations: [
    formOperation('POST /forms', {
      operationId: 'sendForm',
      summary: 'Send a form',
      caller: member,
      form: z.object({ by: z.string() }),
      answers: { 200: { description: 'Sent.', schema: z.object({ by: z.string() }) } },
      errors: { 400: { description: 'Refused.' } },
      guard: (_needs: unknown, { name }) => {
        if (name === 'blocked') throw new Problem('account_blocked');
      },
      handle: (_needs, { form }) => Promise.resolve({ by: form.get('by') ?? '', ...needs.leaked }),
    }),
  ],
};

const guards = {
  session: [
    (req: { headers: object }, _res: unknown, next: () => void) => {
      if (!('name' in req.headers)) throw new Problem('unauthorized');
      next();
    },
  ],
};

const readForm: ReadForm = async (req) => parseForm(await buffer(req as IncomingMessage));

const answerError: ErrorRequestHandler = (error: unknown, _req, res, _next) => {
  res.status(problemOf(error).status).send('its own');
};

let server: Server;
const needs: Needs = { leaked: {} };

beforeAll(async () => {
  const app = express();
  serve(app, [THINGS], { needs, guards, checkAnswers: true });
  serve(app, [FORMS], { needs, guards, checkAnswers: true, readForm, answerError });
  app.use(problemHandler(createLogger('suite', 'silent')));
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  server.close();
});

async function ask(method: string, path: string, { name = 'ada', body = '', match = '' } = {}) {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
    method,
    headers: {
      ...(name === '' ? {} : { name }),
      ...(match === '' ? {} : { 'if-match': match }),
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === '' ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('a declared operation', () => {
  test('answers with its only status, or with that of its reply', async () => {
    const got = await ask('GET', '/things/7');
    expect([got.status, JSON.parse(got.text)]).toEqual([200, { thing_id: 7, by: 'ada' }]);
    const put = await ask('PUT', '/things/7', { body: '{"by":"grace"}' });
    expect([put.status, put.headers.get('location')]).toEqual([201, '/things/any/7']);
    expect(await ask('DELETE', '/nothing')).toMatchObject({ status: 204, text: '' });
  });

  test('gets the headers that it declares, or refuses them by name', async () => {
    const body = '{"by":"grace"}';
    const put = await ask('PUT', '/things/7', { body, match: 'abc' });
    expect(put.headers.get('location')).toBe('/things/abc/7');
    const refused = await ask('PUT', '/things/7', { body, match: '1' });
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      400,
      { errors: [{ field: 'If-Match', message: 'must be letters' }] },
    ]);
  });

  test('of GET answers HEAD without a body', async () => {
    expect(await ask('HEAD', '/things/7')).toMatchObject({ status: 200, text: '' });
  });

  test('leaves 405 to other methods, and Allow names those of the path', async () => {
    const post = await ask('POST', '/things/7');
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT']);
    const get = await ask('GET', '/nothing', { name: '' });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'DELETE']);
  });

  test('refuses the caller first, then by its guard, then an impossible id, then the body', async () => {
    const wrong = { body: '{"by":1}' };
    const statuses = [
      await ask('PUT', '/things/x', { ...wrong, name: '' }),
      await ask('PUT', '/things/x', { ...wrong, name: 'blocked' }),
      await ask('PUT', '/things/x', wrong),
      await ask('PUT', '/things/7', wrong),
      await ask('PUT', '/things/7'),
      await ask('PUT', '/things/7', { body: `"${'x'.repeat(20_000)}"` }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 403, 404, 400, 415, 413]);
  });

  test('that answers with more than its schema has is a 500 in suites', async () => {
    needs.leaked = { password_hash: 'secret' };
    const got = await ask('GET', '/things/7');
    needs.leaked = {};
    expect(got.status).toBe(500);
    expect(got.text).not.toContain('secret');
  });
});

describe('an operation with a form', () => {
  test('gets the fields of the form', async () => {
    expect(await ask('POST', '/forms', { body: 'by=grace' })).toMatchObject({
      status: 200,
      text: '{"by":"grace"}',
    });
  });

  test('answers all errors of its path in its own way: by caller, guard, form and method', async () => {
    const answers = [
      await ask('POST', '/forms', { name: '' }),
      await ask('POST', '/forms', { name: 'blocked', body: 'by=%' }),
      await ask('POST', '/forms', { body: 'by=%' }),
      await ask('GET', '/forms'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 400, 405]);
    expect(answers.map(({ text }) => text)).toEqual(answers.map(() => 'its own'));
  });

  test('that answers with more than its schema has is a 500 in suites', async () => {
    needs.leaked = { password_hash: 'secret' };
    const got = await ask('POST', '/forms', { body: 'by=grace' });
    needs.leaked = {};
    expect(got).toMatchObject({ status: 500, text: 'its own' });
  });

  test('is refused at the start without a reader, or a handler of its errors', () => {
    const options = { needs, guards, checkAnswers: true };
    expect(() => {
      serve(express(), [FORMS], options);
    }).toThrow('no reader for the form of /forms');
    expect(() => {
      serve(express(), [FORMS], { ...options, readForm });
    }).toThrow('no handler for the errors of /forms');
  });
});

test('a caller without guards is refused at the start', () => {
  expect(() => {
    serve(express(), [THINGS], { needs, guards: {}, checkAnswers: true });
  }).toThrow('no guards for the caller session');
});
