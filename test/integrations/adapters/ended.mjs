/** A process that is ended (SIGKILL) once it has consumed, before it acts: `node ended.mjs <adapter> <call as JSON>`. */
import { Consigliere } from '@consigliere/sdk';

const [adapter = '', call = ''] = process.argv.slice(2);
const { callRefund } = await import(`./${adapter}.mjs`);
await callRefund(new Consigliere(), JSON.parse(call), () => {
  console.log('consumed');
  return new Promise(() => setInterval(() => undefined, 1_000));
});
