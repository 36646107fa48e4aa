import { useQuery } from '@tanstack/react-query';
import { authUrlQuery } from './queries.ts';
import { CodeBlock } from '../../ui/secret/code-block.tsx';
import { CopyLine } from '../../ui/secret/secret-line.tsx';
import { SecretOnce } from '../../ui/secret/secret-once.tsx';

type CredentialsProps = {
  credentials: { name: string; client_id: string; client_secret: string };
  onClose: () => void;
};

/** An application's client id and its new secret, ready to be used. */
export function Credentials({ credentials, onClose }: CredentialsProps) {
  const { name, client_id, client_secret } = credentials;
  const { data: authUrl = location.origin } = useQuery(authUrlQuery);
  const env = `TOLLGATE_CLIENT_ID=${client_id}\nTOLLGATE_CLIENT_SECRET=${client_secret}\n`;
  const curl = (secret: string) =>
    `curl ${authUrl}/oauth2/token \\\n  -u '${client_id}:${secret}' \\\n  -d grant_type=client_credentials -d scope=api`;
  return (
    <SecretOnce
      title={
        <>
          Credentials of <bdi>{name}</bdi>
        </>
      }
      what="client secret"
      secret={client_secret}
      env={{ fileName: `${name}.env`, text: env }}
      onClose={onClose}
      more={(markCopied) => (
        <>
          <p>Get an access token. The copied command contains the secret.</p>
          <CodeBlock
            what="curl command"
            shown={curl('<client secret>')}
            copied={curl(client_secret)}
            onCopied={markCopied}
          />
        </>
      )}
    >
      <CopyLine label="Client ID" what="client ID" text={client_id} />
    </SecretOnce>
  );
}
