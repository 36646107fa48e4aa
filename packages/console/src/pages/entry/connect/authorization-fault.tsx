import type { AuthorizationFault } from '../../../api/paths.ts';
import { EntryPage } from '../entry-page.tsx';

const REASONS: Readonly<Record<AuthorizationFault, string>> = {
  malformed: 'The request has a parameter twice.',
  unknown_client:
    'The client ID belongs to no application that acts for other people, or the application was revoked.',
  client_document:
    'The client ID is the address of a document that can’t be read at the moment, or isn’t a valid client ID metadata document.',
  refused:
    'The request asks for something that isn’t possible. Sign in here and open the link again: your application is then told what.',
  redirect_uri: 'The redirect URI isn’t one of those that are registered for the application.',
};

/** `/oauth2/authorize`, where an answer to the application would go to an unknown address. It links nowhere. */
export function AuthorizationFaultPage({ fault }: { fault: AuthorizationFault }) {
  return (
    <EntryPage title="The application’s request is wrong">
      <p>
        You can’t connect the application with this link. Nothing has changed, and nothing was sent to it.
      </p>
      <p>If you develop it: {REASONS[fault]}</p>
    </EntryPage>
  );
}
