import type { IncomingMessage } from 'node:http';
import { raw } from 'express';
import { parseForm } from '@tollgate/http/form';
import type { Form } from '@tollgate/http/form';
import { isWhole } from '@tollgate/plain-http/message';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import type { ReadForm } from '@tollgate/operation';
import { Problem } from '@tollgate/http/problem';
import { fieldIndex, singleValue } from '@tollgate/http/request-head';

/** body-parser works with any node:http request, unlike Express' types. */
type ParseBody = (req: RequestWithBody, res: HttpResponse, next: (error?: Error) => void) => void;

type RequestWithBody = IncomingMessage & { body?: unknown };

const FORM = 'application/x-www-form-urlencoded';
const EMPTY = Buffer.alloc(0);

/**
 * body-parser costs three times as much as reading plain forms here. Compressed bodies are an unsupported media type,
 * because a bomb is small.
 */
export function createFormReader(maxBodyBytes: number): ReadForm {
  const parseBody = raw({ type: FORM, limit: maxBodyBytes, inflate: false }) as ParseBody;

  function readByBodyParser(req: RequestWithBody, res: HttpResponse): Promise<unknown> {
    return new Promise((resolve, reject) => {
      parseBody(req, res, (error?: Error) => {
        if (error === undefined) resolve(req.body);
        else reject(error);
      });
    });
  }

  async function readStream(req: IncomingMessage, res: HttpResponse): Promise<Form> {
    const body = isPlainForm(req, maxBodyBytes) ? await readToEnd(req) : await readByBodyParser(req, res);
    if (Buffer.isBuffer(body)) return parseForm(body);
    throw new Problem('unsupported_media_type', { detail: `The content type must be ${FORM}.` });
  }

  // The fast path accepts plain forms only (direct-routes.ts).
  return (req, res) => (isWhole(req) ? parseForm(req.wholeBody ?? EMPTY) : readStream(req, res));
}

/** Whether a form can be read without a parser of media types, codings and the like. */
export function isPlainForm({ rawHeaders }: Pick<HttpRequest, 'rawHeaders'>, maxBodyBytes: number): boolean {
  return (
    singleValue(rawHeaders, 'content-type') === FORM &&
    fieldIndex(rawHeaders, 'content-encoding') === -1 &&
    fieldIndex(rawHeaders, 'transfer-encoding') === -1 &&
    Number(singleValue(rawHeaders, 'content-length')) <= maxBodyBytes
  );
}

/** Node.js enforces the Content-Length. */
function readToEnd(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    // `on`, because `once` creates and removes a wrapper per request.
    req.on('end', () => {
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    req.on('error', (cause) => {
      reject(new Problem('invalid_request', { cause }));
    });
  });
}
