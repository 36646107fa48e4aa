import { createDocument } from 'zod-openapi';
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
  ZodOpenApiSecuritySchemeObject,
} from 'zod-openapi';
import type { z } from 'zod';
import type { Answer } from '@tollgate/contracts/api-description';
import type { Chapter, Described } from '../operation.ts';
import { reasonHeaders } from '../reason.ts';
import { HEADERS, headersOf } from './headers.ts';
import { createProblemAnswers, problemSchema } from './problems.ts';
import { plainerSchema } from './plainer-schema.ts';
import { securityOf } from './security.ts';

export type ApiDocument = ReturnType<typeof createDocument>;

type Answers = Record<string, ZodOpenApiResponseObject>;

/** What a document is made of, besides its chapters in reading order. */
export type DocumentFrame = {
  title: string;
  description: string;
  /** Relative to the document's own URL if it begins with a slash. */
  serverUrl: string;
  securitySchemes: Record<string, ZodOpenApiSecuritySchemeObject>;
};

/** An OpenAPI 3.1 document (docs/design/console.md). */
export function createOpenApi(
  chapters: readonly Chapter[],
  { title: apiTitle, description: apiDescription, serverUrl, securitySchemes }: DocumentFrame,
): ApiDocument {
  const problemAnswers = createProblemAnswers();
  const ownAnswer = createOwnAnswers();
  const paths: ZodOpenApiPathsObject = {};
  for (const { title, operations } of chapters) {
    for (const operation of operations) {
      const { method, path } = operation;
      const own = Object.entries<Answer>({ ...operation.answers, ...operation.errors }).map(
        ([status, answer]) => [status, ownAnswer(answer)],
      );
      const responses = bothOf(Object.fromEntries(own) as Answers, problemAnswers(operation));
      const described = { tags: [title], ...operationObject(operation), responses };
      paths[path] = { ...paths[path], [method.toLowerCase()]: described };
    }
  }
  return createDocument(
    {
      openapi: '3.1.1',
      info: { title: apiTitle, version: '1', description: apiDescription },
      servers: [{ url: serverUrl }],
      tags: chapters.map(({ title, description }) => ({ name: title, description })),
      paths,
      components: {
        schemas: { Problem: problemSchema },
        headers: HEADERS,
        securitySchemes,
      },
    },
    { override: plainerSchema },
  );
}

function operationObject(operation: Described): Omit<ZodOpenApiOperationObject, 'responses'> {
  const { method, operationId, summary, description, params, query } = operation;
  const headers = headerFieldsOf(operation);
  const requestBody = requestBodyOf(operation);
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    security: securityOf(operation, method),
    ...(params === undefined && query === undefined && headers === undefined
      ? {}
      : {
          requestParams: {
            ...(params === undefined ? {} : { path: params }),
            ...(query === undefined ? {} : { query }),
            ...(headers === undefined ? {} : { header: headers }),
          },
        }),
    ...(requestBody === undefined ? {} : { requestBody }),
  };
}

function headerFieldsOf(operation: Described): z.ZodObject | undefined {
  const { headers } = operation;
  const reason = reasonHeaders(operation);
  if (reason === undefined || headers === undefined) return reason ?? headers;
  return headers.extend(reason.shape);
}

function requestBodyOf({ body, form, example }: Described): ZodOpenApiOperationObject['requestBody'] {
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
