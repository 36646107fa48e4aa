import { Problem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';

/** `json` is read whole; an `upload` (GraphQL multipart request) is passed on as it arrives. */
export type BodyForm = { kind: 'json' } | { kind: 'upload'; boundary: string };

const JSON_FORM: BodyForm = { kind: 'json' };

const JSON_TYPE = /^application\/(?:graphql\+)?json$/;
const UPLOAD_TYPE = /^multipart\/form-data$/;
/** Whatever else could be read as a charset: with blanks, or extended (RFC 8187). */
export const OTHER_CHARSET = /^charset(?!="?utf-?8"?$)/;
/** RFC 2046, section 5.1.1; without the blank, which readers trim differently. */
const BOUNDARY = /^boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'+.-]{1,70}))$/i;

/** The form of a POST's body by its media type. @throws {Problem} unsupported_media_type */
export function bodyForm(rawHeaders: readonly string[], uploads: boolean): BodyForm {
  const [value, second] = fieldValues(rawHeaders, 'content-type');
  if (value === 'application/json' && second === undefined) return JSON_FORM;
  if (value === undefined || second !== undefined) throw unsupported(uploads);
  const [type = '', ...parameters] = value.split(';').map((part) => part.trim());
  const lower = type.toLowerCase();
  if (parameters.some((parameter) => OTHER_CHARSET.test(parameter.toLowerCase()))) throw unsupported(uploads);
  if (JSON_TYPE.test(lower)) return JSON_FORM;
  if (!uploads || !UPLOAD_TYPE.test(lower)) throw unsupported(uploads);
  const [boundary, another] = parameters.flatMap((parameter) => {
    const [, quoted, token] = BOUNDARY.exec(parameter) ?? [];
    return quoted ?? token ?? [];
  });
  if (boundary === undefined || another !== undefined) throw unsupported(uploads);
  return { kind: 'upload', boundary };
}

function unsupported(uploads: boolean): Problem {
  const accept = uploads ? 'application/json, multipart/form-data' : 'application/json';
  return new Problem('unsupported_media_type', {
    detail: `Send the operation as application/json in UTF-8${uploads ? ', or files as multipart/form-data' : ''}.`,
    headers: { accept },
  });
}
