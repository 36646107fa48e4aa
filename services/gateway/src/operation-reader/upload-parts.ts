import { isUtf8 } from 'node:buffer';
import { Problem } from '@tollgate/http/problem';
import { OTHER_CHARSET } from './body-form.ts';
import { folded } from './protocol-names.ts';
import { createGrowingBytes } from '../http/growing-bytes.ts';

/** The operations come before the files (GraphQL multipart request specification), and are no longer than this. */
export const MAX_OPERATIONS_BYTES = 262_144;

const MAX_PART_HEAD_BYTES = 4_096;
const LINE_END = '\r\n';
const END_OF_HEAD = '\r\n\r\n';
/** Neither folded nor with a bare CR or LF, which some readers take for the end of a line. */
const FIELD_LINE = /^([\w-]+):([\t -~\x80-\xff]*)$/;
const DISPOSITION = /^form-data; ?name="([^"\\%]*)"(; ?filename="[^"\\]*")?$/i;
/** With which a part is as it stands (RFC 2045, section 6.2). Some readers decode others. */
const PLAIN_ENCODING = /^(?:7bit|8bit|binary)$/i;
/** Readers of forms take what is before them for the name, without blanks before it. */
const ENDS_OF_NAME = /[[\]. ]+/;

/**
 * Follows the parts of an upload as it passes. Strict, so that no other reader finds other operations in it: they are
 * the first part, as it stands, no later part has that name, and the boundary is nowhere but where parts begin and end.
 * Some readers take the last of several parts of a name, lines that end with LF alone, or a boundary within a line.
 */
export type UploadParts = {
  /** Returns the operations' text once, when they are complete. @throws {Problem} invalid_request, payload_too_large */
  saw: (chunk: Buffer) => string | undefined;
};

type State = 'start' | 'delimiter' | 'head' | 'operations' | 'file' | 'over';

export function createUploadParts(boundary: string): UploadParts {
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`);
  const dashBoundary = delimiter.subarray(LINE_END.length);
  const pending = createGrowingBytes();
  // As if a part had ended before the first one.
  pending.append(Buffer.from(LINE_END));
  let state: State = 'start';
  let hasOperations = false;
  /** Of what is pending; no delimiter begins before. */
  let searchedBytes = 0;

  function go(next: State, droppedBytes: number): true {
    pending.drop(droppedBytes);
    searchedBytes = 0;
    state = next;
    return true;
  }

  /** The index of `what` in what is pending; -1 if it isn't there yet. */
  function find(what: Buffer | string, maxBytes: number): number {
    const bytes = pending.view();
    const at = bytes.indexOf(what, searchedBytes);
    searchedBytes = Math.max(0, bytes.length - what.length);
    if (Math.max(at, searchedBytes) > maxBytes) throw new Problem('payload_too_large');
    return at;
  }

  /** The index of the delimiter that ends a part; -1 if it isn't there yet. */
  function findDelimiter(maxBytes: number): number {
    const boundaryAt = find(dashBoundary, maxBytes);
    if (boundaryAt === -1) return -1;
    const at = boundaryAt - LINE_END.length;
    if (at >= 0 && pending.view().indexOf(LINE_END, at) === at) return at;
    throw malformed('The boundary of an upload must not be in its parts.');
  }

  function partOf(head: string): 'operations' | 'file' {
    if (head.includes(dashBoundary.toString('latin1')))
      throw malformed('The boundary of an upload must not be in its parts.');
    const fields = fieldsIn(head);
    const [, name, filename] = DISPOSITION.exec(fields.get('content-disposition') ?? '') ?? [];
    if (name === undefined) throw malformed('Each part of an upload must have one plain name.');
    const isOperations = folded(name.split(ENDS_OF_NAME).find((part) => part !== '') ?? '') === OPERATIONS;
    if (isOperations === hasOperations || (isOperations && (name !== 'operations' || filename !== undefined)))
      throw malformed('The part `operations` must come first in an upload, and once.');
    if (isOperations) assertPlain(fields);
    hasOperations = true;
    return isOperations ? 'operations' : 'file';
  }

  /** But for the line end before a boundary that may begin there. */
  function dropSearched(): void {
    const dropped = Math.max(0, searchedBytes - LINE_END.length);
    pending.drop(dropped);
    searchedBytes -= dropped;
  }

  /** Makes one step through what is pending; false if it needs more bytes. */
  function step(found: (operations: string) => void): boolean {
    const bytes = pending.view();
    switch (state) {
      case 'start':
        if (bytes.length < delimiter.length) return false;
        if (!bytes.subarray(0, delimiter.length).equals(delimiter)) {
          throw malformed('An upload must begin with its boundary.');
        }
        return go('delimiter', delimiter.length);
      case 'delimiter': {
        if (bytes.length < 2) return false;
        const after = bytes.toString('latin1', 0, 2);
        if (after === LINE_END) return go('head', 2);
        if (after !== '--' || !hasOperations)
          throw malformed('A boundary must end its line, and begin a part.');
        return go('over', 2);
      }
      case 'head': {
        const end = find(END_OF_HEAD, MAX_PART_HEAD_BYTES);
        // The second line end stays, since it begins the delimiter of an empty part.
        return end !== -1 && go(partOf(bytes.toString('latin1', 0, end)), end + LINE_END.length);
      }
      case 'operations': {
        const end = findDelimiter(MAX_OPERATIONS_BYTES);
        if (end === -1) return false;
        const operations = bytes.subarray(LINE_END.length, end);
        if (!isUtf8(operations)) throw malformed('The part `operations` must be UTF-8.');
        found(operations.toString());
        return go('delimiter', end + delimiter.length);
      }
      case 'file': {
        const end = findDelimiter(Infinity);
        if (end !== -1) return go('delimiter', end + delimiter.length);
        dropSearched();
        return false;
      }
      case 'over':
        if (find(dashBoundary, Infinity) !== -1) throw malformed('Nothing must follow the end of an upload.');
        dropSearched();
        return false;
    }
  }

  return {
    saw: (chunk) => {
      let operations: string | undefined;
      pending.append(chunk);
      while (step((text) => (operations = text)));
      return operations;
    },
  };
}

const OPERATIONS = folded('operations');

/** By their names in lower case. @throws {Problem} invalid_request */
function fieldsIn(head: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of head.split(LINE_END)) {
    const [, name, value] = FIELD_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined || fields.has(name.toLowerCase()))
      throw malformed('The header fields of a part must be on one line each, and not repeated.');
    fields.set(name.toLowerCase(), value.trim());
  }
  return fields;
}

/** Whether no reader decodes the part. @throws {Problem} invalid_request */
function assertPlain(fields: ReadonlyMap<string, string>): void {
  const [, ...parameters] = (fields.get('content-type') ?? '').toLowerCase().split(';');
  const isPlain =
    PLAIN_ENCODING.test(fields.get('content-transfer-encoding') ?? 'binary') &&
    !parameters.some((parameter) => OTHER_CHARSET.test(parameter.trim()));
  if (!isPlain) throw malformed('The part `operations` must be UTF-8, without a transfer encoding.');
}

function malformed(detail: string): Problem {
  return new Problem('invalid_request', { detail });
}
