import { OperatorLink } from '../location.tsx';

/** What was asked for isn't done yet. */
export function Held() {
  return (
    <p role="status">
      A second operator must confirm it: <OperatorLink to="/confirmations">Confirmations</OperatorLink>
    </p>
  );
}
