import { Suspense, useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { lazyPart } from '../ui/part/lazy-part.ts';
import styles from './search.module.css';

const SearchDialog = lazyPart(async () => (await import('./search-dialog.tsx')).SearchDialog);

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Finds pages and applications: a button, and `⌘K` or `Ctrl K` anywhere. */
export function Search() {
  const [isOpen, setOpen] = useState(false);
  // Loaded with the first use, and kept mounted so that the dialog can close in its own way.
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey) return;
      event.preventDefault();
      setLoaded(true);
      setOpen((open) => !open);
    }
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
    };
  }, []);
  return (
    <>
      <Button
        aria-keyshortcuts={IS_APPLE ? 'Meta+K' : 'Control+K'}
        onPress={() => {
          setLoaded(true);
          setOpen(true);
        }}
      >
        Go to… <kbd className={styles['keys']}>{IS_APPLE ? '⌘K' : 'Ctrl K'}</kbd>
      </Button>
      {isLoaded && (
        <Suspense>
          <SearchDialog
            isOpen={isOpen}
            onClose={() => {
              setOpen(false);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
