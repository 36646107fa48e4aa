import type { IncomingMessage, ServerResponse } from 'node:http';
import { raw } from 'express';
import { parseForm } from '@tollgate/http/form';
import type { Form } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';

/**
 * Reads a request's form body to its end.
 * @throws {Problem} unsupported_media_type where the body is no form or is compressed; payload_too_large;
 *   invalid_request where it is malformed or breaks off
 */
export type ReadForm = (req: IncomingMessage, res: ServerResponse) => Promise<Form>;

/** What body-parser needs: any node:http request, which Express' types don't say. */
type ParseBody = (req: RequestWithBody, res: ServerResponse, next: (error?: Error) => void) => void;

type RequestWithBody = IncomingMessage & { body?: unknown };

const FORM = 'application/x-www-form-urlencoded';

/**
 * A form reader with a limit. What nearly every client sends, a form with its length announced, is read here;
 * all else (chunks, parameters in the type, too much) is body-parser's, at three times the cost. A compressed
 * body is refused: a small bomb would pass the limit.
 */
export function createFormReader(maxBodyBytes: number): ReadForm {
  const parseBody: ParseBody = raw({ type: FORM, limit: maxBodyBytes, inflate: false });

  function readByBodyParser(req: RequestWithBody, res: ServerResponse): Promise<unknown> {
    return new Promise((resolve, reject) => {
      parseBody(req, res, (error?: Error) => {
        if (error === undefined) resolve(req.body);
        else reject(error);
      });
    });
  }

  return async (req, res) => {
    const body = isPlainForm(req, maxBodyBytes) ? await readToEnd(req) : await readByBodyParser(req, res);
    if (Buffer.isBuffer(body)) return parseForm(body);
    throw new Problem('unsupported_media_type', { detail: `The content type must be ${FORM}.` });
  };
}

function isPlainForm({ headers }: IncomingMessage, maxBodyBytes: number): boolean {
  return (
    headers['content-type'] === FORM &&
    headers['content-encoding'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length']) <= maxBodyBytes
  );
}

/** Node.js hands on no byte beyond the announced length, and ends a request that stays behind it with an error. */
function readToEnd(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    // `on`, though each comes once: `once` makes a wrapper for each request, and takes it away again.
    req.on('end', () => {
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    req.on('error', (cause) => {
      reject(new Problem('invalid_request', { cause }));
    });
  });
}
