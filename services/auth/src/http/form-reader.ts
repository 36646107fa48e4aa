import type { IncomingMessage, ServerResponse } from 'node:http';
import { raw } from 'express';
import { parseForm } from '@tollgate/http/form';
import type { Form } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';

/** @throws {Problem} unsupported_media_type, also for a compressed body; payload_too_large; invalid_request */
export type ReadForm = (req: IncomingMessage, res: ServerResponse) => Promise<Form>;

/** body-parser works with any node:http request, unlike Express' types. */
type ParseBody = (req: RequestWithBody, res: ServerResponse, next: (error?: Error) => void) => void;

type RequestWithBody = IncomingMessage & { body?: unknown };

const FORM = 'application/x-www-form-urlencoded';

/**
 * body-parser costs three times as much as reading plain forms here. Compressed bodies are refused: a bomb is
 * small.
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
