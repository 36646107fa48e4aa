import { createDocument } from 'zod-openapi';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { API_CHAPTERS, API_DESCRIPTION } from './chapters.ts';
import { HEADERS, headersOf } from './headers.ts';
import type { Answer, Method, Operation } from '../http/operation.ts';
import { createProblemAnswers, problemSchema } from './problems.ts';
import { plainerSchema } from './plainer-schema.ts';
import { securityOf, securitySchemes } from './security.ts';

export type ApiDocument = ReturnType<typeof createDocument>;

type Answers = Record<string, ZodOpenApiResponseObject>;

export type ApiDoor = {
  /** Relative to the document's own URL if it begins with a slash. */
  serverUrl: string;
  sessionCookie: string;
};

/** For docs/openapi.json, which belongs to no installation. */
export const ANY_DOOR: ApiDoor = { serverUrl: '/', sessionCookie: '__Host-tollgate_session' };

/** The OpenAPI 3.1 document of the public API of all three services (ADR 0032). */
export function createApiDocument({ serverUrl, sessionCookie }: ApiDoor): ApiDocument {
  const problemAnswers = createProblemAnswers();
  const ownAnswer = createOwnAnswers();
  const paths: ZodOpenApiPathsObject = {};
  for (const { title, operations } of API_CHAPTERS) {
    for (const [route, operation] of Object.entries(operations)) {
      const [method, path] = route.split(' ') as [Method, string];
      const own = Object.entries<Answer>(operation.answers).map(([status, answer]) => [
        status,
        ownAnswer(answer),
      ]);
      const responses = bothOf(Object.fromEntries(own) as Answers, problemAnswers(method, operation));
      const described = { tags: [title], ...operationObject(method, operation), responses };
      paths[path] = { ...paths[path], [method.toLowerCase()]: described };
    }
  }
  return createDocument(
    {
      openapi: '3.1.1',
      info: { title: 'Tollgate', version: '1', description: API_DESCRIPTION },
      servers: [{ url: serverUrl }],
      tags: API_CHAPTERS.map(({ title, description }) => ({ name: title, description })),
      paths,
      components: {
        schemas: { Problem: problemSchema },
        headers: HEADERS,
        securitySchemes: securitySchemes({
          tokenUrl: `${serverUrl.replace(/\/$/, '')}/oauth2/token`,
          sessionCookie,
        }),
      },
    },
    { override: plainerSchema },
  );
}

function operationObject(method: Method, operation: Operation): Omit<ZodOpenApiOperationObject, 'responses'> {
  const { operationId, summary, description, caller, params, query } = operation;
  const requestBody = requestBodyOf(operation);
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    security: securityOf(caller, method),
    ...(params === undefined && query === undefined
      ? {}
      : {
          requestParams: {
            ...(params === undefined ? {} : { path: params }),
            ...(query === undefined ? {} : { query }),
          },
        }),
    ...(requestBody === undefined ? {} : { requestBody }),
  };
}

function requestBodyOf({ body, form, example }: Operation): ZodOpenApiOperationObject['requestBody'] {
  const schema = body ?? form;
  if (schema === undefined) return undefined;
  const type = body === undefined ? 'application/x-www-form-urlencoded' : 'application/json';
  return { required: true, content: { [type]: { schema, example } } };
}

/** A named response is the same object everywhere, so it becomes a component. */
function createOwnAnswers(): (answer: Answer) => ZodOpenApiResponseObject {
  const named = new Map<string, ZodOpenApiResponseObject>();
  return (answer) => {
    const { name } = answer;
    if (name === undefined) return answerObject(answer);
    const made = named.get(name) ?? { id: name, ...answerObject(answer) };
    named.set(name, made);
    return made;
  };
}

type Content = NonNullable<ZodOpenApiResponseObject['content']>;

function answerObject(answer: Answer): ZodOpenApiResponseObject {
  const { description, schema, contentTypes = ['application/json'], example, headers = {} } = answer;
  const { furtherSchemas = {} } = answer;
  if (schema === undefined) return { description, headers: headersOf(headers) };
  const media = { schema, ...(example === undefined ? {} : { example }) };
  const further = Object.entries(furtherSchemas).map(([type, other]) => [type, { schema: other }]);
  const content = Object.fromEntries([...contentTypes.map((type) => [type, media]), ...further]) as Content;
  return { description, headers: headersOf(headers), content };
}

/** An operation's own responses and its problems. If a status has both, their media types differ. */
function bothOf(own: Answers, problems: Answers): Answers {
  const shared = Object.entries(own).map(([status, answer]) => {
    const problem = problems[status];
    if (problem === undefined) return [status, answer];
    const { description, content } = answer;
    return [status, { description, headers: headersOf({}), content: { ...content, ...problem.content } }];
  });
  return { ...problems, ...(Object.fromEntries(shared) as Answers) };
}
