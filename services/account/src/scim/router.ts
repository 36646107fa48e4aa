import { Router, json } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import type { AddressOf } from '@tollgate/http/error-handler';
import { Problem, invalidToken } from '@tollgate/http/problem';
import type { Logger } from '@tollgate/log';
import { callerOf } from '../http/caller-address.ts';
import { noStore } from '../http/no-store.ts';
import { refuseExceeded } from '../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../identity/attempts/attempt-counts.ts';
import { isUnsafe } from '../identity/sessions/same-origin.ts';
import { groupsCollection, usersCollection } from './collections.ts';
import type { Collection } from './collections.ts';
import type { Directory } from './people/changes.ts';
import type { MembershipNeeds } from './people/membership.ts';
import { resourceTypes, schemas, serviceProviderConfig } from './protocol/discovery.ts';
import { isId } from './protocol/id.ts';
import { listResponse, pageOf } from './protocol/list.ts';
import { patched } from './protocol/patch.ts';
import { isObject, isStorable, readResource } from './protocol/read-value.ts';
import { ALL, projectionOf } from './protocol/resource.ts';
import type { Projection, Resource } from './protocol/resource.ts';
import {
  SCIM_MEDIA_TYPE,
  ScimError,
  invalidFilter,
  invalidSyntax,
  invalidValue,
  noSuchResource,
  scimErrorHandler,
  sendScim,
} from './protocol/scim-error.ts';
import { findTeamOfToken, noteError } from './tokens/store.ts';

export const SCIM_PATH = '/scim/v2';

const MAX_BODY_BYTES = 512 * 1_024;
const REQUESTS_PER_SECOND = 100;

/**
 * Of a team. A change can make an account, or send a mail, which others' mails wait behind. A first synchronization has
 * 10,000 people.
 */
const CHANGES_PER_HOUR = 20_000;

export type ScimNeeds = MembershipNeeds & { counts: AttemptCounts; scimBaseUrl: string };

/** SCIM 2.0 (RFC 7643, RFC 7644) for the directories of teams, below SCIM_PATH. Its errors are SCIM's. */
export function scimRouter(needs: ScimNeeds, logger: Logger, addressOf: AddressOf): Router {
  const { scimBaseUrl } = needs;
  const router = Router({ caseSensitive: true, strict: true });
  const users = usersCollection(needs, scimBaseUrl);
  const groups = groupsCollection(needs, scimBaseUrl);
  router.use(noStore, authenticate(needs), countRequests(needs), readBody);
  serveDiscovery(router, scimBaseUrl);
  router
    .route('/.search')
    .post(search([users, groups]))
    .all(methodNotAllowed('POST'));
  for (const collection of [users, groups]) serveCollection(router, collection);
  router.use(() => {
    throw noSuchResource();
  });
  router.use(scimErrorHandler(logger, addressOf, noteRefused(needs, logger)));
  return router;
}

function serveDiscovery(router: Router, baseUrl: string): void {
  const documentation = new URL('/docs/teams', baseUrl).href;
  const get = (path: string, answer: (req: Request) => object) => {
    router
      .route(path)
      .get((req, res) => {
        sendScim(res, answer(req));
      })
      .all(methodNotAllowed('GET', 'HEAD'));
  };
  get('/ServiceProviderConfig', () => serviceProviderConfig(baseUrl, documentation));
  for (const [path, all] of [
    ['/ResourceTypes', resourceTypes(baseUrl)],
    ['/Schemas', schemas(baseUrl)],
  ] as const) {
    get(path, (req) => {
      // RFC 7644, section 4: so that no one takes all for what was searched for.
      if (req.query['filter'] !== undefined)
        throw new ScimError(403, undefined, 'Filters are not supported here.');
      return listResponse(all, { total: all.length, offset: 0 });
    });
    get(`${path}/:id`, (req) => {
      const found = all.find(({ id }) => id === req.params['id']);
      if (found === undefined) throw noSuchResource();
      return found;
    });
  }
}

function serveCollection(router: Router, collection: Collection): void {
  const { endpoint } = collection.kind;
  router
    .route(`${endpoint}/.search`)
    .post(search([collection]))
    .all(methodNotAllowed('POST'));
  router
    .route(endpoint)
    .get(async (req, res) => {
      const { team_id } = directoryOf(res);
      sendScim(res, await listed([collection], team_id, wantedOfQuery(req)));
    })
    .post(async (req, res) => {
      const directory = directoryOf(res);
      const id = await collection.create(directory, readResource(collection.kind, req.body));
      res.status(201).location(collection.locationOf(id));
      await sendResource(res, collection, id, projectionOfQuery(req));
    })
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route(`${endpoint}/:id`)
    .all(knownId)
    .get((req, res) => sendResource(res, collection, idOf(req), projectionOfQuery(req)))
    .put((req, res) => {
      const wanted = readResource(collection.kind, req.body);
      return changed(collection, req, res, () => wanted);
    })
    .patch((req, res) =>
      changed(collection, req, res, (before) => patched(collection.kind, before, req.body)),
    )
    .delete(async (req, res) => {
      await collection.remove(directoryOf(res), idOf(req), req.get('if-match'));
      res.status(204).end();
    })
    .all(methodNotAllowed('GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'));
}

async function changed(
  collection: Collection,
  req: Request,
  res: Response,
  change: Parameters<Collection['change']>[2]['change'],
): Promise<void> {
  await collection.change(directoryOf(res), idOf(req), { change, precondition: req.get('if-match') });
  await sendResource(res, collection, idOf(req), projectionOfQuery(req));
}

/** As it is now. @throws {ScimError} 404 */
async function sendResource(
  res: Response,
  collection: Collection,
  id: string,
  projection: Projection,
): Promise<void> {
  const { team_id } = directoryOf(res);
  const found = await collection.find(team_id, id, projection);
  if (found === undefined) throw noSuchResource();
  const { meta } = found;
  if (isObject(meta)) res.set('etag', String(meta['version']));
  sendScim(res, found);
}

type Wanted = { filter: string | undefined; startIndex: unknown; count: unknown; projection: Projection };

/** One after another, as if they were one list. */
async function listed(
  collections: readonly Collection[],
  teamId: number,
  { filter, startIndex, count, projection }: Wanted,
): Promise<object> {
  const page = pageOf(startIndex, count);
  const totals: { collection: Collection; total: number }[] = [];
  const refusals: unknown[] = [];
  for (const collection of collections) {
    // An attribute that only one of the types has.
    const total = await collection.count(teamId, filter).catch((error: unknown) => {
      if (!(error instanceof ScimError)) throw error;
      refusals.push(error);
      return 0;
    });
    totals.push({ collection, total });
  }
  if (refusals.length === collections.length) throw refusals[0];
  const resources: Resource[] = [];
  let { offset } = page;
  for (const { collection, total } of totals) {
    const rest = page.count - resources.length;
    if (offset < total && rest > 0) {
      resources.push(
        ...(await collection.list(teamId, { filter, page: { offset, count: rest }, projection })),
      );
    }
    offset = Math.max(0, offset - total);
  }
  const all = totals.reduce((sum, { total }) => sum + total, 0);
  return listResponse(resources, { total: all, offset: page.offset });
}

/** RFC 7644, section 3.4.3. */
function search(collections: readonly Collection[]): RequestHandler {
  return async (req, res) => {
    const body: unknown = req.body;
    if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
    const { filter, startIndex, count, attributes, excludedAttributes } = body;
    const names = (list: unknown) => (Array.isArray(list) ? list.filter(isText).join() : undefined);
    const wanted = {
      filter: filterOf(filter),
      startIndex,
      count,
      projection: projectionOf(names(attributes), names(excludedAttributes)),
    };
    sendScim(res, await listed(collections, directoryOf(res).team_id, wanted));
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

function wantedOfQuery(req: Request): Wanted {
  const { filter, startIndex, count } = req.query;
  return { filter: filterOf(filter), startIndex, count, projection: projectionOfQuery(req) };
}

function filterOf(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  if (isText(given) && isStorable(given)) return given;
  throw invalidFilter('The filter must be text.');
}

function projectionOfQuery({ query }: Request): Projection {
  const { attributes, excludedAttributes } = query;
  if (attributes === undefined && excludedAttributes === undefined) return ALL;
  const text = (value: unknown) => {
    if (value === undefined || isText(value)) return value;
    throw invalidValue('attributes and excludedAttributes must be lists with commas.');
  };
  return projectionOf(text(attributes), text(excludedAttributes));
}

const idOf = ({ params }: Request) => String(params['id']).toLowerCase();

const knownId: RequestHandler = (req, _res, next) => {
  if (!isId(idOf(req))) throw noSuchResource();
  next();
};

const directories = new WeakMap<Response, Directory>();

function directoryOf(res: Response): Directory {
  const directory = directories.get(res);
  if (directory === undefined) throw new Error('the endpoint is not behind authenticate');
  return directory;
}

/** RFC 6750, 2.1. */
const BEARER = /^bearer +(\S{1,512})$/i;

/** @throws {Problem} (the returned function) unauthorized, also at paths that don't exist */
function authenticate({ query }: Pick<ScimNeeds, 'query'>): RequestHandler {
  return async (req, res, next) => {
    const [, token] = BEARER.exec(req.headers.authorization?.trim() ?? '') ?? [];
    if (token === undefined) throw new Problem('unauthorized');
    const found = await findTeamOfToken(query, token);
    if (found === undefined) throw invalidToken();
    const { address, request_id } = callerOf(req, res);
    const actor = { actor: `scim:${String(found.scim_token_id)}`, address, request_id };
    directories.set(res, { ...found, actor });
    next();
  };
}

/** @throws {Problem} (the returned function) too_many_requests */
function countRequests({ counts }: Pick<ScimNeeds, 'counts'>): RequestHandler {
  return async (req, res, next) => {
    const { scim_token_id, team_id } = directoryOf(res);
    const second = { subject: `scim ${String(scim_token_id)}`, max: REQUESTS_PER_SECOND, windowSec: 1 };
    refuseExceeded(await counts.take([second]));
    if (isUnsafe(req) && !req.path.endsWith('/.search')) {
      const hour = { subject: `scim changes ${String(team_id)}`, max: CHANGES_PER_HOUR, windowSec: 3_600 };
      refuseExceeded(await counts.take([hour]));
    }
    next();
  };
}

const parseBody = json({
  type: ['application/json', SCIM_MEDIA_TYPE],
  limit: MAX_BODY_BYTES,
  // A compressed body could exceed the limit when inflated.
  inflate: false,
});

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

const readBody: RequestHandler = (req, res, next) => {
  parseBody(req, res, (error?: unknown) => {
    if (error !== undefined) {
      next(error);
      return;
    }
    const isMissing = (req.body as unknown) === undefined;
    const hasBody = req.get('transfer-encoding') !== undefined || Number(req.get('content-length') ?? 0) > 0;
    if (WITH_BODY.has(req.method) && isMissing && hasBody) {
      next(new ScimError(415, undefined, `The content type must be ${SCIM_MEDIA_TYPE} or application/json.`));
      return;
    }
    next();
  });
};

/** The manager sees a token's last refusal of a change, or of a list, on the Team page. */
function noteRefused({ query }: Pick<ScimNeeds, 'query'>, logger: Pick<Logger, 'warn'>) {
  return (res: Response, { status, detail }: { status: number; detail: string }) => {
    const directory = directories.get(res);
    const { method, path } = res.req;
    if (directory === undefined || status === 429 || status >= 500) return;
    if (status === 404 && !WITH_BODY.has(method)) return;
    const text = `${method} ${path}: ${String(status)} ${detail}`;
    noteError(query, directory.scim_token_id, text).catch((error: unknown) => {
      logger.warn({ err: error }, 'a refusal of SCIM could not be noted');
    });
  };
}
