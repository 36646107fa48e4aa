import { useRouter } from '@tanstack/react-router';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError, lastRequestId } from '../api/client.ts';
import { useConnection } from '../api/connection.ts';
import { brand } from '../api/brand.ts';
import { EntryPage } from '../pages/entry/entry-page.tsx';
import { Button } from '../ui/button.tsx';
import { PageHeader } from '../ui/page/page-header.tsx';
import { ErrorMessage } from '../ui/page/states.tsx';
import { PartMissing } from '../ui/part/load-part.ts';
import page from '../ui/page/page.module.css';
import { PageUnreachable } from './lazy-route-component.ts';

/** A page that has failed, in place of it: the other pages work. */
export function PageFailed({ error }: ErrorComponentProps) {
  const router = useRouter();
  if (error instanceof ApiError) {
    return <ErrorMessage error={error} onRetry={() => void router.invalidate()} />;
  }
  if (error instanceof PageUnreachable) return <Unreachable />;
  return error instanceof PartMissing ? <Outdated /> : <Crashed />;
}

function Unreachable() {
  const { state } = useConnection();
  const [failedWhile] = useState(state);
  useEffect(() => {
    // The browser may remember that the script failed.
    if (failedWhile !== 'connected' && state === 'connected') location.reload();
  }, [failedWhile, state]);
  return (
    <>
      <PageHeader title="This page could not be loaded" />
      <section className={page['card']} role="alert">
        <p>{brand.name} cannot be reached. The page loads when the connection is back.</p>
        <Reload />
      </section>
    </>
  );
}

function Outdated() {
  return (
    <>
      <PageHeader title="This page is out of date" />
      <section className={page['card']} role="alert">
        <p>Part of it could not be loaded, probably because {brand.name} was updated. Reload to continue.</p>
        <Reload />
      </section>
    </>
  );
}

/** The reference is a request's id, by which support finds in the logs what led here. */
function Crashed() {
  const [reference] = useState(lastRequestId);
  return (
    <>
      <PageHeader title="This page has stopped working" />
      <section className={page['card']} role="alert">
        <p>Something went wrong in the page itself. Reload it to continue.</p>
        {reference !== null && (
          <p className={page['muted']}>
            If it happens again, send support this reference: <code>{reference}</code>
          </p>
        )}
        <Reload />
      </section>
    </>
  );
}

function Reload() {
  return (
    <div className={page['actions']}>
      <Button
        isReading
        variant="primary"
        onPress={() => {
          location.reload();
        }}
      >
        Reload
      </Button>
    </div>
  );
}

/** Nothing can be shown, as it is not known who is signed in. Tries again by itself. */
export function StartFailed({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isTemporary = error instanceof ApiError;
  if (!isTemporary) {
    return (
      <main>
        <Crashed />
      </main>
    );
  }
  return (
    <EntryPage title={`${brand.name} is unavailable`}>
      <ErrorMessage error={error} what="your account" onRetry={() => void router.invalidate()} isAlone />
    </EntryPage>
  );
}
