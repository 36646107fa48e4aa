import styles from '../../ui/page/page.module.css';
import { CodeBlock } from '../../ui/secret/code-block.tsx';

const SAMPLE = `import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_…

createServer(async (req, res) => {
  try {
    const event = webhook.verify(await text(req), req.headers);
    console.log(event.type, event.data);
    res.writeHead(204).end();
  } catch {
    res.writeHead(401).end();
  }
}).listen(8080);`;

/** How a server checks that an event comes from here. */
export function Verification() {
  return (
    <section className={styles['card']} aria-labelledby="verification">
      <h2 id="verification">Verify events</h2>
      <p>
        Events follow <a href="https://www.standardwebhooks.com/">Standard Webhooks</a>, which has libraries
        for most languages. With the npm package <code>standardwebhooks</code>:
      </p>
      <CodeBlock what="Node.js sample" shown={SAMPLE} />
      <p>Use the raw body, before it is parsed. Respond with a 2xx status within 15 seconds.</p>
    </section>
  );
}
