import { CopyButton } from '../copy-button.tsx';
import styles from './secret.module.css';

type CodeBlockProps = {
  /** For its name and that of the copy button: "curl command". */
  what: string;
  /** What is on the page. */
  shown: string;
  /** What is copied, where that holds a secret which isn't shown. */
  copied?: string;
  onCopied?: () => void;
};

/** Code to copy. */
export function CodeBlock({ what, shown, copied = shown, onCopied }: CodeBlockProps) {
  return (
    <div className={styles['code']}>
      <pre tabIndex={0} role="region" aria-label={what}>
        {shown}
      </pre>
      <CopyButton what={what} text={copied} {...(onCopied === undefined ? {} : { onCopied })} />
    </div>
  );
}
