import type { Readable } from 'node:stream';
import type { CallRules } from '@tollgate/contracts/entitlement';
import { isWhole } from '@tollgate/plain-http/message';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { keepPerHead } from '@tollgate/plain-http/repeated-heads';
import { Problem } from '@tollgate/http/problem';
import { queryOf } from '@tollgate/http/request-head';
import { createRoom } from '../http/room.ts';
import type { Place, Room, RoomOptions } from '../http/room.ts';
import { arrivedBody, declaredBytes, streamedBody, wholeBody } from './arriving-body.ts';
import type { BodyLimits } from './arriving-body.ts';
import { bodyForm } from './body-form.ts';
import { bodyDecoder } from './content-coding.ts';
import type { Decode } from './content-coding.ts';
import { keepRepeated } from './repeated-bodies.ts';
import { MAX_OPERATIONS_BYTES, createUploadParts } from './upload-parts.ts';
import type { OperationReader, ReadRequest } from './operation-reader.ts';
import type { StoredDocuments, WithTexts } from './stored-documents.ts';
import type { ReaderOf } from './readers-of-plans.ts';
import { isObject, parseKeepingDigits } from './json.ts';
import { parsed, requestIn, textIn, withTextsPut } from './json-request.ts';
import { LONG_BODY_MIN_BYTES } from './long-bodies.ts';
import type { LongBody, OpenLongBody, PriceElsewhere } from './long-bodies.ts';
import { assertExactNames, assertExactVariables, assertShallow, exactParameters } from './protocol-names.ts';
import { areElsewhere, withVariablesElsewhere } from './request-head.ts';

/** A data call whose operations are known. */
export type ReadCall = ReadRequest & {
  /** For the upstream. */
  body: Buffer | Readable | null;
  /** The URL's query for the upstream; null for the request's own. */
  query: string | null;
  /** Null if it isn't known, or there is no body. */
  lengthBytes: number | null;
  /** Of the body; null if it has none, as each one that was read. */
  contentCoding: string | null;
  /** Whether what it asks for takes long to work on, and should be worked on in turns. */
  isLong: boolean;
  /** Null if it has all variables of its operations. */
  priceElsewhere: PriceElsewhere | null;
  /** Must be called when the call is over. */
  release: () => void;
};

/**
 * Reads a call before anything is taken for it that calls share: a slot, a connection to the upstream
 * (docs/design/admission.md). A promise only while the body is incomplete, encoded or long; null if the caller has gone.
 * @throws {Problem} method_not_allowed for a GET that is no query; unsupported_media_type; payload_too_large;
 * request_timeout; invalid_request; PERSISTED_QUERY_NOT_FOUND; persisted_query_mismatch; batch_too_large; too_many_requests or service_unavailable if the payer's, or all
 * bodies that are under way are too much. Also in the promise.
 */
export type ReadDataCall = (
  req: HttpRequest,
  payer: Reading,
  documents: StoredDocuments,
) => ReadCall | null | Promise<ReadCall | null>;

/** Whose memory a call takes, and the guards of whose plan it is held to. */
type Reading = { payerId: number; callRules: CallRules | null };

/** What a body asks for. */
type ReadBody = ReadRequest & {
  /** With the texts of the documents that are named; null for the body as it is. */
  rewritten: Buffer | null;
  namesDocument: boolean;
  isLong: boolean;
  priceElsewhere: PriceElsewhere | null;
};

/** Puts the texts of documents into a request, as far as they are known to the payer. */
type TextsOf = (request: unknown) => WithTexts;

export type ReadDataCallOptions = {
  readerOf: ReaderOf;
  body: BodyLimits;
  /** Of all bodies that are in memory while their calls are under way, but for those that arrived with their heads. */
  bodiesMaxBytes: number;
  /** How many uploads may be under way at a time, since each holds a connection to the upstream; 0 for none. */
  maxUploads: number;
  openLongBody: OpenLongBody;
  /** Longer bodies are parsed in a worker. Default: 256 KiB. */
  longBodyMinBytes?: number;
};

/** The least that a body counts for: its connection takes memory, too. */
export const BODY_MIN_BYTES = 16_384;

/** The documents of one that is longer, with the texts that it names, are read in turns of the event loop. */
const LONG_BODY_BYTES = 65_536;
/** So are those of a batch that is longer: each of its operations may take the steps that one may have. */
const LONG_BATCH_BYTES = 4_096;

/** Of a room that payers share, what one of them gets at most. */
const PART_OF_PAYER = 4;

/** For the bodies of calls that are under way. */
export function createBodyRoom({
  body,
  bodiesMaxBytes,
}: Pick<ReadDataCallOptions, 'body' | 'bodiesMaxBytes'>): Room {
  // One body always fits.
  const perPayer = Math.max(bodiesMaxBytes / PART_OF_PAYER, BODY_MIN_BYTES, 2 * body.maxBytes);
  return createRoom({
    total: Math.max(bodiesMaxBytes, perPayer),
    perHolder: perPayer,
    ...refusing('request bodies'),
  });
}

export function createReadDataCall({ readerOf, ...options }: ReadDataCallOptions): ReadDataCall {
  const { body: limits, maxUploads, openLongBody, longBodyMinBytes = LONG_BODY_MIN_BYTES } = options;
  const bodies = createBodyRoom(options);
  const uploads = createRoom({
    total: maxUploads,
    perHolder: Math.ceil(maxUploads / PART_OF_PAYER),
    ...refusing('uploads'),
  });

  function readUrl(req: HttpRequest, reader: OperationReader, textsOf: TextsOf): ReadCall {
    const parameters = exactParameters(queryOf(req));
    const sent: Record<string, unknown> = Object.fromEntries(parameters);
    const { extensions, variables } = sent;
    if (typeof extensions === 'string') {
      assertShallow(extensions);
      sent['extensions'] = parsed(extensions, parseKeepingDigits);
      assertExactNames(`{"extensions":${extensions}}`);
    }
    if (typeof variables === 'string') sent['variables'] = variablesIn(variables);
    const request = textsOf(sent).request as Record<string, unknown>;
    const { operations, requests } = reader.read(request);
    // A persisted document has no text here; whether it is a query is the upstream's to check.
    const mayBeQuery = operations.type === 'query' || request['query'] === undefined;
    if (!mayBeQuery) {
      throw new Problem('method_not_allowed', {
        detail: 'A GET can only run a query; use POST for other operations.',
        headers: { allow: 'POST' },
      });
    }
    return {
      operations,
      requests,
      body: null,
      query: request === sent ? null : queryWithText(parameters, request),
      lengthBytes: null,
      contentCoding: null,
      isLong: operations.isBatch,
      priceElsewhere: null,
      release: NOTHING_HELD,
    };
  }

  type ReadRepeated = (body: Buffer, textsOf: TextsOf) => ReadBody | Promise<ReadBody>;
  const repeatedOf = new WeakMap<OperationReader, ReadRepeated>();

  function readRepeated(
    body: Buffer,
    reader: OperationReader,
    textsOf: TextsOf,
  ): ReadBody | Promise<ReadBody> {
    let read = repeatedOf.get(reader);
    if (read === undefined) {
      read = keepRepeated(
        (each: Buffer, texts: TextsOf) => readJson(each, reader, texts, limits),
        (result) => !(result instanceof Promise) && !result.namesDocument,
      );
      repeatedOf.set(reader, read);
    }
    return read(body, textsOf);
  }

  const codingOf = keepPerHead(({ rawHeaders }) => ({
    form: bodyForm(rawHeaders, maxUploads > 0),
    decode: bodyDecoder(rawHeaders),
  }));

  /** What arrived with its head takes room only with long texts. Returns what gives it back. */
  function grown(place: Place | null, payerId: number, bytes: number): (() => void) | undefined {
    place?.reach(bytes);
    const held = place ?? (bytes > LONG_BODY_BYTES ? bodies.take(payerId, bytes) : undefined);
    return held?.release;
  }

  function whole(
    req: HttpRequest,
    received: Buffer,
    { payerId, callRules }: Reading,
    textsOf: TextsOf,
    place: Place | null,
  ): ReadCall | Promise<ReadCall | null> {
    const asCall = ({ operations, requests, rewritten, isLong, priceElsewhere }: ReadBody): ReadCall => {
      const body = rewritten ?? received;
      const { length } = body;
      const release = rewritten === null ? place?.release : grown(place, payerId, received.length + length);
      return {
        operations,
        requests,
        body,
        query: null,
        lengthBytes: length,
        contentCoding: null,
        isLong,
        priceElsewhere,
        release: release ?? NOTHING_HELD,
      };
    };
    const reader = readerOf(callRules);
    if (received.length > longBodyMinBytes) {
      const onGone = (listener: () => void) => whenGone(req, listener);
      const longBody = openLongBody(received, { payerId, onGone });
      return readLong(longBody, received.length, reader, textsOf, limits).then((read) =>
        read === null ? null : asCall(read),
      );
    }
    const read = readRepeated(received, reader, textsOf);
    return read instanceof Promise ? read.then(asCall) : asCall(read);
  }

  async function wholeOrGone(
    req: HttpRequest,
    body: Buffer,
    payer: Reading,
    textsOf: TextsOf,
    place: Place,
  ): Promise<ReadCall | null> {
    const call = await whole(req, body, payer, textsOf, place);
    if (call === null) place.release();
    return call;
  }

  async function arriving(
    req: HttpRequest,
    decode: Decode | null,
    payer: Reading,
    textsOf: TextsOf,
  ): Promise<ReadCall | null> {
    const place = bodies.take(payer.payerId, BODY_MIN_BYTES);
    try {
      const received = isWhole(req) ? arrivedBody(req, limits) : await wholeBody(req, limits, place.reach);
      if (received === null) {
        place.release();
        return null;
      }
      place.reach(received.length);
      if (decode === null) return await wholeOrGone(req, received, payer, textsOf, place);
      const body = await decode(received, limits.maxBytes, (bytes) => {
        place.reach(received.length + bytes);
      });
      return await wholeOrGone(req, body, payer, textsOf, place);
    } catch (error) {
      place.release();
      throw error;
    }
  }

  async function uploading(
    req: HttpRequest,
    boundary: string,
    { payerId, callRules }: Reading,
    textsOf: TextsOf,
  ): Promise<ReadCall | null> {
    const reader = readerOf(callRules);
    const lengthBytes = declaredBytes(req, limits) ?? null;
    const form = { query: null, lengthBytes, contentCoding: null, isLong: true, priceElsewhere: null };
    const parts = createUploadParts(boundary);
    if (isWhole(req)) {
      const body = arrivedBody(req, limits);
      const text = parts.saw(body);
      if (text === undefined) throw incomplete();
      const read = readUpload(text, reader, textsOf);
      return { ...read, ...form, body, release: NOTHING_HELD };
    }
    if (req.destroyed) return null;
    const place = uploads.take(payerId, 1);
    let body: Readable | undefined;
    const release = () => {
      body?.destroy();
      place.release();
    };
    try {
      const text = await new Promise<string>((resolve, reject) => {
        body = streamedBody(req, limits, {
          readAhead: 2 * MAX_OPERATIONS_BYTES,
          saw: (chunk) => {
            const operations = parts.saw(chunk);
            if (operations !== undefined) resolve(operations);
          },
        });
        body.once('error', reject);
        req.once('end', () => {
          reject(incomplete());
        });
      });
      return { ...readUpload(text, reader, textsOf), ...form, body: body ?? null, release };
    } catch (error) {
      release();
      // A request whose body has ended is destroyed, too.
      if (req.socket.destroyed) return null;
      throw error;
    }
  }

  return (req, payer, documents) => {
    const textsOf: TextsOf = (request) => documents.withTexts(request, payer.payerId);
    if (req.method === 'GET') return readUrl(req, readerOf(payer.callRules), textsOf);
    const { form, decode } = codingOf(req);
    if (form.kind === 'upload') {
      if (decode !== null)
        throw new Problem('unsupported_media_type', { detail: 'Uploads must not be encoded.' });
      return uploading(req, form.boundary, payer, textsOf);
    }
    if (decode === null && isWhole(req)) {
      const body = arrivedBody(req, limits);
      // A longer one waits for others, and takes room.
      if (body.length <= longBodyMinBytes) return whole(req, body, payer, textsOf, null);
    }
    return arriving(req, decode, payer, textsOf);
  };
}

function refusing(what: string): Pick<RoomOptions, 'tooMuchOfHolder' | 'what'> {
  return {
    tooMuchOfHolder: () =>
      new Problem('too_many_requests', {
        detail: `Too many ${what} at a time.`,
        headers: { 'retry-after': '1' },
      }),
    what,
  };
}

export const NOTHING_HELD = (): void => undefined;

/** Also a request with a list of variables. */
function hasSeveral(request: unknown): boolean {
  const requests: readonly unknown[] = Array.isArray(request) ? request : [request];
  return requests.length > 1 || requests.some((each) => isObject(each) && Array.isArray(each['variables']));
}

/** A promise for a long body. @throws {Problem} Also in the promise. */
function readJson(
  body: Buffer,
  reader: OperationReader,
  textsOf: TextsOf,
  { maxBytes }: Pick<BodyLimits, 'maxBytes'>,
): ReadBody | Promise<ReadBody> {
  const text = textIn(body);
  const sent = requestIn(text);
  reader.assertLength(sent);
  const { request, found, textBytes, namesDocument } = textsOf(sent);
  const withTextsBytes = body.length + textBytes;
  if (withTextsBytes > maxBytes) throw new Problem('payload_too_large');
  const isLong =
    withTextsBytes > LONG_BODY_BYTES || (withTextsBytes > LONG_BATCH_BYTES && hasSeveral(request));
  const asBody = ({ operations, requests }: ReadRequest): ReadBody => ({
    operations,
    requests,
    // Only after the request was read, since a text takes more room than its name.
    rewritten: found && Buffer.from(withTextsPut(text, found)),
    namesDocument,
    isLong,
    priceElsewhere: null,
  });
  return isLong ? reader.readInTurns(request).then(asBody) : asBody(reader.read(request));
}

/** As `readJson`, with a worker; null if the caller has gone. @throws {Problem} (the promise) also those of the worker */
async function readLong(
  body: LongBody,
  length: number,
  reader: OperationReader,
  textsOf: TextsOf,
  { maxBytes }: Pick<BodyLimits, 'maxBytes'>,
): Promise<ReadBody | null> {
  const head = await body.head(reader.batchLimit);
  if (head === null) return null;
  const sent = withVariablesElsewhere(head.request);
  reader.assertLength(sent);
  const { request, found, textBytes, namesDocument } = textsOf(sent);
  if (length + textBytes > maxBytes) throw new Problem('payload_too_large');
  const { operations, requests } = await reader.readInTurns(request);
  const hasAll = !requests.some(({ variables }) => areElsewhere(variables));
  return {
    operations,
    requests,
    rewritten: found && (await body.withTexts(found)),
    namesDocument,
    isLong: true,
    priceElsewhere: hasAll ? null : (schema) => body.prices(schema, found),
  };
}

/** Returns what stops the watch. */
function whenGone({ socket }: HttpRequest, listener: () => void): () => void {
  socket.once('close', listener);
  return () => socket.off('close', listener);
}

/** The operations of an upload pass as they are sent, so they must have their texts. */
function readUpload(operations: string, reader: OperationReader, textsOf: TextsOf): ReadRequest {
  const sent = requestIn(operations);
  reader.assertLength(sent);
  const { request, found } = textsOf(sent);
  if (found === null) return reader.read(request);
  throw new Problem('invalid_request', { detail: 'An upload must have the text of its document.' });
}

function queryWithText(sent: URLSearchParams, request: Record<string, unknown>): string {
  const parameters = new URLSearchParams(sent);
  for (const name of sent.keys()) if (!(name in request)) parameters.delete(name);
  parameters.set('query', String(request['query']));
  if (isObject(request['extensions'])) parameters.set('extensions', JSON.stringify(request['extensions']));
  return `?${parameters.toString()}`;
}

/** What isn't JSON is the upstream's to refuse. @throws {Problem} invalid_request */
function variablesIn(text: string): unknown {
  let variables: unknown;
  try {
    variables = JSON.parse(text);
  } catch {
    return text;
  }
  assertExactVariables(text);
  return variables;
}

function incomplete(): Problem {
  return new Problem('invalid_request', { detail: 'The upload has no complete part `operations`.' });
}
