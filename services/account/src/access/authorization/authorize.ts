import type { Request, RequestHandler } from 'express';
import type { AuthorizationFault } from '@tollgate/console/paths';
import type { ResourceServer } from '@tollgate/contracts/resource-servers';
import type { Query } from '../../platform/database/query.ts';
import { callerOf } from '../../http/caller-address.ts';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import { hashOfToken, newSecretToken } from '../../identity/secret-token.ts';
import { isDocumentClientId } from '@tollgate/credentials/client-id-document';
import type { FindByDocument } from '../registrations/documents.ts';
import { answerAddress, readAuthorizationRequest } from './request.ts';
import { findAskingApplication, insertRequest } from './store.ts';

export type AuthorizeNeeds = {
  query: Query;
  counts: AttemptCounts;
  /** Of client IDs that are addresses. */
  findByDocument: FindByDocument;
  issuer: string;
  resources: ReadonlyMap<string, ResourceServer>;
  /** Where people answer; the request's id is added. */
  consentUrl: string;
  /** Anyone can register an application, whose errors would send any browser anywhere (RFC 9700, section 4.11.2). */
  isSignedIn: (req: Request) => Promise<boolean>;
  /** The page for a request that can't be answered by a redirect. */
  faultPage: (fault: AuthorizationFault) => RequestHandler;
};

const CLIENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Each stores a row for ten minutes. */
const REQUESTS_PER_ADDRESS = { max: 300, windowSec: 60 };

/**
 * `GET /oauth2/authorize` (RFC 6749, section 4.1.1). The request stays here while the person signs in; the browser gets
 * an id that says nothing. 303, so that no later page gets the form of an earlier one (RFC 9700, section 4.12).
 */
export function authorize(needs: AuthorizeNeeds): RequestHandler {
  const { query, counts, findByDocument, issuer, resources, consentUrl, faultPage, isSignedIn } = needs;
  return async (req, res, next) => {
    res.set({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    const given = new URL(req.originalUrl, 'http://authorize').searchParams;
    const caller = callerOf(req, res);
    const findApplication = async (clientId: string) => {
      if (isDocumentClientId(clientId)) return findByDocument(clientId, caller);
      const found = CLIENT_ID.test(clientId) ? await findAskingApplication(query, clientId) : undefined;
      return found ?? 'unknown_client';
    };
    const read = await readAuthorizationRequest(given, { findApplication, resources });
    if (read.ok) {
      const limit = { subject: `authorize address ${caller.addressGroup}`, ...REQUESTS_PER_ADDRESS };
      refuseExceeded(await counts.take([limit]));
      const id = newSecretToken();
      await insertRequest(query, hashOfToken(id), read.request);
      res.redirect(303, `${consentUrl}/${id}`);
    } else if ('redirect' in read && (await isSignedIn(req))) {
      const { redirect: error, description: error_description, to } = read;
      res.redirect(303, answerAddress(to, issuer, { error, error_description }));
    } else {
      res.status(400);
      faultPage('page' in read ? read.page : 'refused')(req, res, next);
    }
  };
}
