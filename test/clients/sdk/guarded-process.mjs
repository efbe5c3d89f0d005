// Run by actions.spec.ts: is ended (SIGKILL) once it has consumed, before it acts.
import { Consigliere } from '@consigliere/sdk';

const [tool, params, externalId] = process.argv.slice(2);
const act = () => {
  console.log('consumed');
  return new Promise(() => setInterval(() => undefined, 1_000));
};
await new Consigliere().actions.run(tool, JSON.parse(params), act, { externalId, reason: 'It came back.' });
