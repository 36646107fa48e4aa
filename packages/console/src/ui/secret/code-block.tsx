import { CopyButton } from '../copy-button.tsx';
import styles from './secret.module.css';

type CodeBlockProps = {
  /** For its name and that of the copy button: "curl command". */
  what: string;
  /** What is on the page. */
  shown: string;
  /** What is copied, where that holds a secret which isn't shown, or how to get it. */
  copied?: string | (() => Promise<string>);
  onCopied?: () => void;
  onError?: (error: unknown) => void;
};

/** Code to copy. */
export function CodeBlock({ what, shown, copied = shown, onCopied, onError }: CodeBlockProps) {
  return (
    <div className={styles['code']}>
      <pre tabIndex={0} role="region" aria-label={what}>
        {shown}
      </pre>
      <CopyButton
        what={what}
        text={copied}
        {...(onCopied === undefined ? {} : { onCopied })}
        {...(onError === undefined ? {} : { onError })}
      />
    </div>
  );
}
