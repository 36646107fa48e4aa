import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';

type CopyButtonProps = {
  /** What the button copies, for its name: "client ID". */
  what: string;
  /** The text, or how to get it: a secret is fetched only when it is copied. */
  text: string | (() => Promise<string>);
  onCopied?: () => void;
  onError?: (error: unknown) => void;
  /** What the button shows in place of "Copy". */
  children?: ReactNode;
};

const CONFIRMATION_MS = 2_000;

/** Copies a text without showing it, and says so to everyone. */
export function CopyButton({ what, text, onCopied, onError, children = 'Copy' }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  const [isPending, setPending] = useState(false);
  async function copy() {
    setPending(true);
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
      setCopied(true);
      onCopied?.();
      setTimeout(() => {
        setCopied(false);
      }, CONFIRMATION_MS);
    } catch (error) {
      onError?.(error);
    } finally {
      setPending(false);
    }
  }
  return (
    <Button
      isReading={typeof text === 'string'}
      variant="quiet"
      isPending={isPending}
      aria-label={`${copied ? 'Copied' : 'Copy'} ${what}`}
      onPress={() => void copy()}
    >
      <span aria-live="polite">{copied ? 'Copied' : children}</span>
    </Button>
  );
}
